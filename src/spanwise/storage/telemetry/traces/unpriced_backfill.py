"""Backfills the number of unpriced tokens in traces written before migration 0018.

Such a trace has the models without a price and the tokens of each model, which is exact unless a
model has calls of both kinds.
"""

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.traces.aggregates import recompute_traces

RANGE_TRACES = 10_000

_IS_MIXED = """(arrayExists((m, c) -> c > 0 AND has(unpriced_models, m), models, model_costs)
    OR (cost - arraySum(model_costs) > 1e-9 AND input_tokens + output_tokens
        > arraySum(model_input_tokens) + arraySum(model_output_tokens)))"""


def backfill_unpriced_tokens(client: Client) -> None:
    """Recompute traces with calls with and without a cost of the same model; idempotent."""
    hours = query_rows(
        client,
        f"""SELECT toStartOfHour(start) AS hour, count() AS traces FROM traces FINAL
        WHERE {_IS_MIXED} GROUP BY hour ORDER BY hour""",
        {},
    )
    ranges: list[list[object]] = []
    size = RANGE_TRACES
    for row in hours:
        if size + row["traces"] > RANGE_TRACES:
            ranges.append([row["hour"], row["hour"]])
            size = 0
        ranges[-1][1] = row["hour"]
        size += row["traces"]
    for first, last in ranges:
        traces = f"""SELECT workspace, trace_id FROM traces FINAL
            WHERE toStartOfHour(start) BETWEEN {{first:DateTime('UTC')}}
                AND {{last:DateTime('UTC')}} AND {_IS_MIXED}"""
        recompute_traces(client, traces, {"first": first, "last": last})
