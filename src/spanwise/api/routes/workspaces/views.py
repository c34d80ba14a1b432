"""Routes for saved views; others see the shared ones, owners and admins change them."""

from typing import Annotated

from fastapi import Query

from spanwise.api.auth import ClientAddress, Reader, Writer
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Paged
from spanwise.api.requests.views import NewView, ViewChange
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import Use
from spanwise.model.dashboards.views import View

router = PrefixRouter("views", "/views")


@router.get("")
async def list_views(
    caller: Reader,
    use: Use,
    page: Paged,
    on_page: Annotated[
        str | None, Query(alias="page", max_length=100, description="Only views of this page.")
    ] = None,
) -> SuccessPage[View]:
    """List your own views and the shared ones, newest first."""
    return succeed_page(page, await use.views.list(caller, page, on_page))


@router.post("", status_code=201)
async def create_view(
    body: NewView, caller: Writer, use: Use, address: ClientAddress
) -> Success[View]:
    fields = {name: getattr(body, name) for name in NewView.model_fields}
    return succeed(await use.views.create(caller, fields, address))


@router.get("/{id}")
async def get_view(
    id: str,  # noqa: A002 -- the name in the path
    caller: Reader,
    use: Use,
) -> Success[View]:
    return succeed(await use.views.get(caller, id))


@router.put("/{id}")
async def change_view(
    id: str,  # noqa: A002
    body: ViewChange,
    caller: Writer,
    use: Use,
    address: ClientAddress,
) -> Success[View]:
    """Change the given fields. Only the owner and admins of the workspace may."""
    return succeed(await use.views.change(caller, id, body.to_fields(), address))


@router.delete("/{id}")
async def delete_view(
    id: str,  # noqa: A002
    caller: Writer,
    use: Use,
    address: ClientAddress,
) -> Success[Deleted]:
    """Delete it. Only the owner and admins of the workspace may."""
    await use.views.delete(caller, id, address)
    return succeed(Deleted(id=id))
