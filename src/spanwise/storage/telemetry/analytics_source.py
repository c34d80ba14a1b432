"""Where analytics read from: rows that each stand for a number of traces.

A row of `traces` is a row that stands for one trace. Its measures are named here once, so that the
questions and the rollup cannot mean different things by the same name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spanwise.model.analytics import Question
from spanwise.storage.telemetry.conditions import trace_conditions

# Latencies that separate the buckets of the distribution, in milliseconds.
LATENCY_BOUNDS_MS = (200, 500, 1000, 2000, 5000)

# Measure -> what it is of one trace. The names are also columns of the rollup.
MEASURES = {
    "agent_name": "agent_name",
    "traces": "toUInt64(1)",
    "errors": "toUInt64(status = 'error')",
    "duration_ms": "duration_ns / 1e6",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
    **{f"under_{ms}": f"toUInt64(duration_ns < {ms}000000)" for ms in LATENCY_BOUNDS_MS},
    "error_types": "if(status = 'error', [if(error_type = '', 'other', toString(error_type))], [])",
    "error_counts": "if(status = 'error', [toUInt64(1)], [])",
    "models": "models",
    "model_costs": "model_costs",
    "unpriced_models": "unpriced_models",
    "tools": "tools",
    "tool_calls": "tool_calls",
}


@dataclass(frozen=True)
class Source:
    """The rows that answer a question: SQL to select measures from, and what it binds."""

    traces_where: str
    parameters: dict[str, Any]

    def select(self, measures: Sequence[str]) -> str:
        """SQL for rows with these measures and the `moment` that each row belongs to."""
        columns = ", ".join(f"{MEASURES[name]} AS {name}" for name in measures)
        return f"SELECT start AS moment, {columns} FROM traces FINAL WHERE {self.traces_where}"


def find_source(workspace: str, question: Question) -> Source:
    where = trace_conditions(workspace, question.wanted)
    return Source(where.sql, where.parameters)
