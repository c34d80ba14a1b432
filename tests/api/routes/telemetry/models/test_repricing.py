"""Repricing continues after a restart, and applies a newer price list."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from spanwise.analysis.prices import find_list_prices
from spanwise.jobs import repricing as job
from spanwise.model.telemetry.prices import PriceKey, PricePeriod
from spanwise.services.telemetry.price_list import PriceList
from spanwise.storage.telemetry.write import repricing as stored
from support.polling import until
from support.service import Person, start_service
from support.spans import llm_call

MODEL = "acme/restarted"
PRICE = {"model": MODEL, "inputPerMillion": 2.0, "outputPerMillion": 10.0}


LISTED = "gpt-4.1-nano"


async def costs(person: Person, model: str) -> list[float]:
    """Return the costs of the traces of a model, newest first."""
    filters = json.dumps([{"field": "model", "value": model}])
    traces = await person.data("GET", "/spans/traces", params={"filters": filters})
    return [trace["cost"] for trace in traces]


async def sources(person: Person) -> dict[str, str]:
    return {seen["model"]: seen["priceSource"] for seen in await person.data("GET", "/models")}


def older_list(_: PriceList, provider: str, model: str) -> Sequence[PricePeriod]:
    return [] if model == LISTED else find_list_prices(provider, model)


async def test_the_next_process_finishes_repricing_and_applies_a_newer_price_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    months = [now - timedelta(days=days) for days in (0, 40, 80)]
    done: list[stored.HourRange] = []

    def fail_after_one_month(client: Client, key: PriceKey, hours: stored.HourRange) -> None:
        # The price list may be repriced at the same time.
        if key.model == MODEL:
            if done:
                raise OSError("the disk is gone")
            done.append(hours)
        stored.reprice_hours(client, key, hours)

    with monkeypatch.context() as patch:
        patch.setattr(PriceList, "find", older_list)
        async with start_service(tmp_path) as service:
            person = await service.sign_up()
            calls = [llm_call(MODEL, "acme", {"input": 1000}, start=at) for at in months]
            calls.append(llm_call(LISTED, "openai", {"input": 1_000_000}))
            # Its cost of 0 is what the application reported, so no price changes it.
            oldest = now - timedelta(days=81)
            calls.append(llm_call(MODEL, "acme", {"input": 1000}, start=oldest, cost=0))
            await person.data("POST", "/spans", json={"spans": calls})
            # Spans that are not stored yet would get the new price without repricing.
            await service.services.ingest.pipeline.wait_until_visible()
            assert await costs(person, LISTED) == [0]
            assert await sources(person) == {MODEL: "none", LISTED: "none"}
            patch.setattr(job, "reprice_hours", fail_after_one_month)
            await person.data("PUT", "/models/prices", json=PRICE)

            async def is_under_way() -> bool:
                (task,) = await person.data("GET", "/models/repricing")
                return (task["monthsDone"], task["monthsTotal"]) == (1, 3)

            await until(is_under_way, 30)
            # It is retried while it still fails.
            assert await costs(person, MODEL) == [pytest.approx(0.002), 0, 0, 0]
            (task,) = await person.data("GET", "/models/repricing")
            assert task["state"] == "running"

    async with start_service(tmp_path) as service:
        person = await service.log_in(person.email)

        async def is_done() -> bool:
            # Repricing to a newer list is not a task of the workspace.
            (task,) = await person.data("GET", "/models/repricing")
            return bool(task["state"] == "done")

        async def has_list_price() -> bool:
            return await costs(person, LISTED) == [pytest.approx(0.1)]

        await until(is_done, 30)
        assert await costs(person, MODEL) == [*[pytest.approx(0.002)] * 3, 0]
        await until(has_list_price, 30)
        assert await sources(person) == {MODEL: "own", LISTED: "list"}
        (seen,) = [s for s in await person.data("GET", "/models") if s["model"] == LISTED]
        assert seen["inputPerMillion"] == pytest.approx(0.1)
