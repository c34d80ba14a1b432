"""Turns the aggregates of traces into rows of `traces`: which calls count is decided here."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from clickhouse_connect.driver.client import Client

from spanwise.model.agents import MAX_NAME, AgentActivity
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.rollup.recent_changes import ChangedSlices
from spanwise.storage.telemetry.rollup.time_ranges import SLICE_LENGTH
from spanwise.storage.telemetry.rows.call_deduplication import (
    Call,
    find_counted_in,
    to_call_id,
)
from spanwise.storage.telemetry.rows.decoding import to_text

# How OpenTelemetry names a service that has no name; the root's name says more.
UNNAMED_SERVICE = "unknown_service"
_UNNAMED_SERVICE = UNNAMED_SERVICE.encode()

# With their types, so that an insert does not ask for them.
_COLUMNS = {
    "workspace": "String",
    "trace_id": "FixedString(16)",
    "version": "UInt64",
    "name": "String",
    "agent_name": "String",
    "status": "String",
    "error_type": "String",
    "duration_ns": "UInt64",
    "span_count": "UInt32",
    "error_count": "UInt32",
    "input_tokens": "UInt64",
    "output_tokens": "UInt64",
    "cost": "Float64",
    "session_id": "String",
    "user_id": "String",
    "environment": "String",
    "experiment_id": "String",
    "variant": "String",
    "models": "Array(String)",
    "model_calls": "Array(UInt64)",
    "model_input_tokens": "Array(UInt64)",
    "model_output_tokens": "Array(UInt64)",
    "model_costs": "Array(Float64)",
    "unpriced_models": "Array(String)",
    "unpriced": "Array(UInt64)",
    "providers": "Array(String)",
    "tools": "Array(String)",
    "tool_calls": "Array(UInt64)",
    "tool_costs": "Array(Float64)",
    "kinds": "Array(String)",
    "input_preview": "String",
    "output_preview": "String",
    "uncounted": "Array(UInt64)",
    "start": "DateTime64(9, 'UTC')",
    "is_deleted": "UInt8",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SLICE_NANO = SLICE_LENGTH // timedelta(microseconds=1) * 1000
_NAMES, _TYPES = list(_COLUMNS), list(_COLUMNS.values())


class Root(NamedTuple):
    """What a trace takes from the root span that represents it; empty without one."""

    start: int
    name: bytes
    agent_name: bytes
    service_name: bytes
    status: bytes
    error_type: bytes
    duration_ns: int
    session_id: bytes
    user_id: bytes
    environment: bytes
    experiment_id: bytes
    variant: bytes
    input_preview: bytes
    output_preview: bytes


class CallUsage(NamedTuple):
    """What a span that reports usage says about its call."""

    call: Call[bytes]
    model: bytes
    input_tokens: int
    output_tokens: int
    cost: float
    is_priced: bool
    unpriced_tokens: int


@dataclass
class WrittenTraces:
    """The agents of written traces, and the starts of their rows."""

    _starts: dict[tuple[bytes, bytes], list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, workspace: bytes, agent_name: bytes, starts: Iterable[int]) -> None:
        self._starts[workspace, agent_name] += starts

    def agents(self) -> list[AgentActivity]:
        return [
            AgentActivity(
                to_text(workspace),
                to_text(name)[:MAX_NAME],
                _to_time(min(starts)),
                _to_time(max(starts)),
            )
            for (workspace, name), starts in self._starts.items()
            if name
        ]

    def slices(self) -> ChangedSlices:
        slices: dict[str, set[datetime]] = defaultdict(set)
        for (workspace, _), starts in self._starts.items():
            slices[to_text(workspace)] |= {_to_time(s - s % _SLICE_NANO) for s in starts}
        return slices


def write_traces(client: Client, aggregates: Rows, written: WrittenTraces) -> None:
    """Write the rows of traces, and add them to what was written."""
    rows = [row for trace in aggregates for row in _to_rows(trace, written)]
    if rows:
        client.insert("traces", rows, column_names=_NAMES, column_type_names=_TYPES)


def _to_rows(trace: Mapping[str, Any], written: WrittenTraces) -> Iterator[tuple[Any, ...]]:
    """Yield the row of a trace, and deletions of those that it had under other start times.

    The earliest root span represents the trace. A trace with several roots, such as the calls of a
    coding agent, lasts from the first start to the last end. A root without a status failed if all
    of its calls did.
    """
    root = Root(*trace["first"])
    starts = {*trace["root_starts"], *trace.get("stored_starts", ())}
    if not starts:
        return
    calls = [CallUsage(Call(*call), *usage) for call, *usage in trace["calls"]]
    uncounted = find_counted_in([usage.call for usage in calls])
    sums = _sum_by_model(usage for usage in calls if usage.call.id not in uncounted)
    of_all = sums.values()
    models = sorted(model for model in sums if model)
    of_models = [sums[model] for model in models]
    tools, tool_calls, tool_costs = trace["by_tool"]
    has_failed = root.status == b"unset" and bool(calls) and not trace["good_calls"]
    agent_name = _name_agent(root, trace)
    experiment = (root.experiment_id, root.variant)
    values = (
        trace["workspace"],
        trace["trace_id"],
        trace["last_version"],
        trace["given_name"] or root.name,
        agent_name,
        b"error" if root.status == b"error" or has_failed else b"success",
        trace["failure"] if has_failed else root.error_type,
        trace["last_end"] - root.start if trace["has_no_single_root"] else root.duration_ns,
        trace["span_count"],
        trace["error_count"],
        sum([usage.input_tokens for usage in of_all]),
        sum([usage.output_tokens for usage in of_all]),
        sum([usage.cost for usage in of_all]) + sum(tool_costs),
        root.session_id or trace["any_session"],
        root.user_id or trace["any_user"],
        root.environment,
        *(experiment if root.experiment_id else trace["any_experiment"]),
        models,
        [of_model.calls for of_model in of_models],
        [of_model.input_tokens for of_model in of_models],
        [of_model.output_tokens for of_model in of_models],
        [of_model.cost for of_model in of_models],
        [model for model in models if sums[model].lacks_price],
        [
            sum([usage.lacking_tokens for usage in of_all]),
            *[of_model.lacking_tokens for of_model in of_models],
        ],
        trace["providers"],
        tools,
        tool_calls,
        tool_costs,
        trace["kinds"],
        root.input_preview,
        root.output_preview,
        [to_call_id(span_id) for span_id in uncounted],
    )
    written.add(trace["workspace"], agent_name, starts)
    for start in starts:
        yield (*values, start, start != root.start)


class _Sums:
    """The usage of several calls."""

    __slots__ = ("calls", "cost", "input_tokens", "lacking_tokens", "lacks_price", "output_tokens")

    def __init__(self) -> None:
        self.calls = self.input_tokens = self.output_tokens = self.lacking_tokens = 0
        self.cost = 0.0
        self.lacks_price = False

    def add(self, usage: CallUsage) -> None:
        self.calls += 1
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        self.cost += usage.cost
        if not usage.is_priced:
            self.lacks_price = True
            self.lacking_tokens += usage.unpriced_tokens


def _sum_by_model(counted: Iterable[CallUsage]) -> dict[bytes, _Sums]:
    """Return the usage by model; that of calls without a model has an empty name."""
    sums: dict[bytes, _Sums] = {}
    for usage in counted:
        of_model = sums.get(usage.model)
        if of_model is None:
            of_model = sums[usage.model] = _Sums()
        of_model.add(usage)
    return sums


def _name_agent(root: Root, trace: Mapping[str, Any]) -> bytes:
    given: bytes = root.agent_name or trace["agent"] or trace["workflow"]
    if given:
        return given
    return root.name if root.service_name.startswith(_UNNAMED_SERVICE) else root.service_name


def _to_time(nano: int) -> datetime:
    return _EPOCH + timedelta(microseconds=nano // 1000)
