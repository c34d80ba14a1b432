"""Routes for saved views; others see the shared ones, owners and admins change them."""

from typing import Annotated

from fastapi import Query

from spanwise.api.auth import ClientAddress, Reader, Writer
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Paged
from spanwise.api.requests.views import NewView, ViewChange
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseTelemetry
from spanwise.model.dashboards.views import View

router = PrefixRouter("views", "/views")


@router.get("")
async def list_views(
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
    on_page: Annotated[
        str | None, Query(alias="page", max_length=100, description="Only views of this page.")
    ] = None,
) -> SuccessPage[View]:
    """List your own views and the shared ones, newest first."""
    return succeed_page(page, await telemetry.views.list(caller, page, on_page))


@router.post("", status_code=201)
async def create_view(
    body: NewView, caller: Writer, telemetry: UseTelemetry, address: ClientAddress
) -> Success[View]:
    fields = {name: getattr(body, name) for name in NewView.model_fields}
    return succeed(await telemetry.views.create(caller, fields, address))


@router.get("/{id}")
async def get_view(
    id: str,  # noqa: A002 -- the name in the path
    caller: Reader,
    telemetry: UseTelemetry,
) -> Success[View]:
    return succeed(await telemetry.views.get(caller, id))


@router.put("/{id}")
async def change_view(
    id: str,  # noqa: A002
    body: ViewChange,
    caller: Writer,
    telemetry: UseTelemetry,
    address: ClientAddress,
) -> Success[View]:
    """Change the given fields. Only the owner and admins of the workspace may."""
    return succeed(await telemetry.views.change(caller, id, body.to_fields(), address))


@router.delete("/{id}")
async def delete_view(
    id: str,  # noqa: A002
    caller: Writer,
    telemetry: UseTelemetry,
    address: ClientAddress,
) -> Success[Deleted]:
    """Delete it. Only the owner and admins of the workspace may."""
    await telemetry.views.delete(caller, id, address)
    return succeed(Deleted(id=id))
