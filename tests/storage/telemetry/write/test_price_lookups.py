"""Prices that are looked up while the next batch is already inserted."""

from collections.abc import Sequence

from spanwise.analysis.prices import find_list_prices
from spanwise.model.telemetry.prices import PricePeriod
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.write.writer import TelemetryWriter
from support.spans import llm_call
from support.store import WorkspaceStore


def find_costs(store: WorkspaceStore) -> list[float]:
    sql = "SELECT cost FROM traces FINAL WHERE workspace = {workspace:String}"
    with store.engine.client() as client:
        return [row["cost"] for row in query_rows(client, sql, {"workspace": store.workspace})]


def test_a_batch_inserted_before_the_price_was_found_is_priced_too(store: WorkspaceStore) -> None:
    batches = [store.batch(llm_call("gpt-4.5-preview", "openai", {"input": 1000})) for _ in "ab"]
    for batch in batches:
        store.writer.insert(batch)
    for batch in batches:
        store.writer.finish(batch.rows)
    first, second = find_costs(store)
    assert first == second > 0


def test_a_price_that_lacks_a_rate_is_looked_up_once(engine: Engine) -> None:
    asked: list[str] = []

    def find(provider: str, model: str) -> Sequence[PricePeriod]:
        asked.append(model)
        return find_list_prices(provider, model)

    store = WorkspaceStore(engine, TelemetryWriter(engine, find))
    for _ in range(2):
        call = llm_call("gpt-4-turbo", "openai", {"input": 1000})
        call["attributes"] |= {"gen_ai.usage.audio.input_tokens": 400}
        store.send(call)
    store.writer.close()
    assert len(asked) <= 1
    assert min(find_costs(store)) > 0
