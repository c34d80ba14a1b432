"""Routes for the models used by a workspace, and their prices."""

from typing import Annotated

from fastapi import Query
from pydantic import AfterValidator, StringConstraints

from spanwise.api.auth import ClientAddress, Reader, Writer
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.http.prefix_router import PrefixRouter
from spanwise.api.requests.parameters import Paged, Period
from spanwise.api.services import Use
from spanwise.model.api_model import ApiModel, without_nul
from spanwise.model.telemetry.prices import Dollars, OwnPrice, Repricing, SeenModel

router = PrefixRouter("models", "/models")

MAX_MODEL_CHARACTERS = 512
ModelName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_MODEL_CHARACTERS),
    AfterValidator(without_nul),
]


class PriceChange(ApiModel):
    """US dollars per million tokens. A null rate is derived from the input or output rate."""

    model: ModelName
    input_per_million: Dollars | None = None
    output_per_million: Dollars | None = None
    cached_input_per_million: Dollars | None = None
    cache_write_per_million: Dollars | None = None
    reasoning_per_million: Dollars | None = None


@router.get("")
async def list_models(
    caller: Reader, use: Use, page: Paged, period: Period, _fresh: Fresh
) -> SuccessPage[SeenModel]:
    """List the models found in spans, most used first, with today's price and its source."""
    listing = await use.prices.find_models(caller.workspace_id, period, page)
    return succeed_page(page, listing)


@router.get("/prices")
async def list_prices(caller: Reader, use: Use, page: Paged) -> SuccessPage[OwnPrice]:
    """List the workspace's own prices and the progress of repricing earlier spans."""
    return succeed_page(page, await use.prices.list(caller.workspace_id, page))


@router.put("/prices")
async def put_price(
    body: PriceChange, caller: Writer, use: Use, address: ClientAddress
) -> Success[OwnPrice]:
    """Set a model's price for this workspace; earlier spans are repriced in the background."""
    given = body.model_dump(by_alias=False, exclude_unset=True, exclude={"model"})
    return succeed(await use.prices.put(caller, body.model, given, address))


@router.delete("/prices")
async def delete_price(
    model: Annotated[str, Query(min_length=1, max_length=MAX_MODEL_CHARACTERS)],
    caller: Writer,
    use: Use,
    address: ClientAddress,
) -> Success[Deleted]:
    """Delete a workspace price; the list price applies again, also to earlier spans."""
    await use.prices.delete(caller, model, address)
    return succeed(Deleted(id=model))


@router.get("/repricing")
async def list_repricing(caller: Reader, use: Use, page: Paged) -> SuccessPage[Repricing]:
    """List price changes, latest first, with the progress of repricing earlier spans."""
    return succeed_page(page, await use.prices.list_repricing(caller.workspace_id, page))
