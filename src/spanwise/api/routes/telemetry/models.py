"""Routes for the models used by a workspace, and their prices."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query
from pydantic import AfterValidator, StringConstraints

from spanwise.api.auth import ClientAddress, Reader, Writer
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Paged, Period
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseTelemetry
from spanwise.model.api_model import ApiModel, without_nul
from spanwise.model.telemetry.prices import (
    Dollars,
    EffectiveFrom,
    OwnPrice,
    PriceKind,
    PriceListInfo,
    Repricing,
    SeenModel,
)
from spanwise.services.telemetry.prices import PriceSubject

router = PrefixRouter("models", "/models")

MAX_MODEL_CHARACTERS = 512
ModelName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_MODEL_CHARACTERS),
    AfterValidator(without_nul),
]


class PriceChange(ApiModel):
    """US dollars. A null rate for text is derived from the input or output rate.

    With `kind` `tool`, `model` is the tool's name, and only `perCall` is set. Without
    `effectiveFrom` the price applies from the beginning.
    """

    kind: PriceKind = PriceKind.MODEL
    model: ModelName
    effective_from: EffectiveFrom | None = None
    input_per_million: Dollars | None = None
    output_per_million: Dollars | None = None
    cached_input_per_million: Dollars | None = None
    cache_write_per_million: Dollars | None = None
    reasoning_per_million: Dollars | None = None
    audio_input_per_million: Dollars | None = None
    audio_output_per_million: Dollars | None = None
    per_call: Dollars | None = None
    per_image: Dollars | None = None


@router.get("")
async def list_models(
    caller: Reader, telemetry: UseTelemetry, page: Paged, period: Period, _fresh: Fresh
) -> SuccessPage[SeenModel]:
    """List the models found in spans, most used first, with today's price and its source."""
    listing = await telemetry.prices.find_models(caller.workspace_id, period, page)
    return succeed_page(page, listing)


@router.get("/prices")
async def list_prices(
    caller: Reader, telemetry: UseTelemetry, page: Paged
) -> SuccessPage[OwnPrice]:
    """List the workspace's own prices and the progress of repricing earlier spans."""
    return succeed_page(page, await telemetry.prices.list(caller.workspace_id, page))


@router.put("/prices")
async def put_price(
    body: PriceChange, caller: Writer, telemetry: UseTelemetry, address: ClientAddress
) -> Success[OwnPrice]:
    """Set the price of a model or tool, from a time on; stored spans are repriced."""
    subject = PriceSubject(body.kind, body.model, body.effective_from)
    given = body.model_dump(
        by_alias=False, exclude_unset=True, exclude={"kind", "model", "effective_from"}
    )
    return succeed(await telemetry.prices.put(caller, subject, given, address))


@router.delete("/prices")
async def delete_price(
    model: Annotated[str, Query(min_length=1, max_length=MAX_MODEL_CHARACTERS)],
    caller: Writer,
    telemetry: UseTelemetry,
    address: ClientAddress,
    kind: PriceKind = PriceKind.MODEL,
    effective_from: Annotated[
        EffectiveFrom | Literal["always"] | None,
        Query(
            alias="effectiveFrom",
            description="Only the price of this time, `always` for the one without a time.",
        ),
    ] = None,
) -> Success[Deleted]:
    """Delete the prices of a model or tool; the list price applies again, also to stored spans."""
    time = effective_from if isinstance(effective_from, datetime) else None
    subject = PriceSubject(kind, model, time)
    await telemetry.prices.delete(caller, subject, address, has_date=effective_from is not None)
    return succeed(Deleted(id=model))


@router.get("/price-list")
async def get_price_list(_: Reader, telemetry: UseTelemetry) -> Success[PriceListInfo]:
    """Return the date, source and size of the public price list in use."""
    return succeed(telemetry.prices.price_list)


@router.get("/repricing")
async def list_repricing(
    caller: Reader, telemetry: UseTelemetry, page: Paged
) -> SuccessPage[Repricing]:
    """List price changes, latest first, with the progress of repricing earlier spans."""
    return succeed_page(page, await telemetry.prices.list_repricing(caller.workspace_id, page))
