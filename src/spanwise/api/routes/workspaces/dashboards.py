"""Routes for saved dashboards; others see the shared ones, owners and admins change them."""

from spanwise.api.auth import ClientAddress, Reader, Writer
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Paged
from spanwise.api.requests.views import DashboardChange, NewDashboard
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseTelemetry
from spanwise.model.dashboards.views import Dashboard

router = PrefixRouter("dashboards", "/dashboards")


@router.get("")
async def list_dashboards(
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
) -> SuccessPage[Dashboard]:
    """List your own dashboards and the shared ones, newest first."""
    return succeed_page(page, await telemetry.dashboards.list(caller, page))


@router.post("", status_code=201)
async def create_dashboard(
    body: NewDashboard, caller: Writer, telemetry: UseTelemetry, address: ClientAddress
) -> Success[Dashboard]:
    fields = {name: getattr(body, name) for name in NewDashboard.model_fields}
    return succeed(await telemetry.dashboards.create(caller, fields, address))


@router.get("/{id}")
async def get_dashboard(
    id: str,  # noqa: A002 -- the name in the path
    caller: Reader,
    telemetry: UseTelemetry,
) -> Success[Dashboard]:
    return succeed(await telemetry.dashboards.get(caller, id))


@router.put("/{id}")
async def change_dashboard(
    id: str,  # noqa: A002
    body: DashboardChange,
    caller: Writer,
    telemetry: UseTelemetry,
    address: ClientAddress,
) -> Success[Dashboard]:
    """Change the given fields. Only the owner and admins of the workspace may."""
    return succeed(await telemetry.dashboards.change(caller, id, body.to_fields(), address))


@router.delete("/{id}")
async def delete_dashboard(
    id: str,  # noqa: A002
    caller: Writer,
    telemetry: UseTelemetry,
    address: ClientAddress,
) -> Success[Deleted]:
    """Delete it. Only the owner and admins of the workspace may."""
    await telemetry.dashboards.delete(caller, id, address)
    return succeed(Deleted(id=id))
