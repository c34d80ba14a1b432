"""The two ways to sum the usage of a trace agree where no call is reported twice."""

import random
from typing import Any

from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.traces.aggregates import recompute_traces
from support.ids import new_trace_id
from support.spans import llm_call, span
from support.store import WorkspaceStore

MODELS = (
    ("gpt-4o", "openai"),
    ("claude-sonnet-4-5", "anthropic"),
    ("unheard-of", "acme"),
    ("", ""),
)
ROWS = """SELECT * EXCEPT (models, model_calls, model_input_tokens, model_output_tokens,
        model_costs, unpriced), arraySort(arrayZip(models, model_calls, model_input_tokens,
        model_output_tokens, model_costs, arrayPopFront(unpriced))) AS by_model,
    unpriced[1] AS total_unpriced
    FROM traces FINAL WHERE workspace = {workspace:String} ORDER BY trace_id"""


def make_trace(chance: random.Random) -> list[dict[str, Any]]:
    trace_id = new_trace_id()
    root = span(traceId=trace_id, kind="agent")
    spans = [root]
    for number in range(chance.randint(0, 6)):
        model, provider = chance.choice(MODELS)
        tokens = {"input": chance.randint(0, 5000), "output": chance.randint(0, 500)}
        call = llm_call(model, provider, tokens, traceId=trace_id, parentSpanId=root["spanId"])
        if chance.random() < 0.5:
            call["attributes"]["gen_ai.response.id"] = f"r{number}"
        spans.append(call)
    return spans


def test_plain_sums_are_those_of_the_counted_calls(store: WorkspaceStore) -> None:
    chance = random.Random(11)
    store.send(*(made for _ in range(40) for made in make_trace(chance)))
    parameters = {"workspace": store.workspace}
    traces = "SELECT workspace, trace_id FROM traces WHERE workspace = {workspace:String}"
    with store.engine.client() as client:
        plain = query_rows(client, ROWS, parameters)
        recompute_traces(client, traces, parameters, may_repeat=True)
        counted = query_rows(client, ROWS, parameters)
    assert len(plain) == 40
    assert sum(row["total_unpriced"] for row in plain) > 0
    assert plain == counted
