"""The SQL of trace filters: what is bound, and which queries are heavy."""

from datetime import UTC, datetime, timedelta

import pytest

from spanwise.model.telemetry.filters import FilterCondition, TraceFilter, equal
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.conditions import IS_HEAVY
from spanwise.storage.telemetry.filters.trace_filters import dimension_conditions, trace_conditions

END = datetime(2026, 3, 10, tzinfo=UTC)
TENANT = (FilterCondition(field="attribute:tenant", value="acme"),)


@pytest.mark.parametrize(
    ("period", "conditions", "is_heavy"),
    [
        (TimeRange(), TENANT, True),
        (TimeRange(END - timedelta(days=90), END), TENANT, True),
        (TimeRange(END - timedelta(days=30), END), TENANT, False),
        (TimeRange(), equal(agent="planner", model="m"), False),
    ],
)
def test_attributes_over_a_long_time_are_heavy(
    period: TimeRange, conditions: tuple[FilterCondition, ...], is_heavy: bool
) -> None:
    where = trace_conditions("wsp", TraceFilter(period, conditions))
    assert (IS_HEAVY in where.parameters) == is_heavy


def test_rollup_and_traces_bind_the_same_values() -> None:
    conditions = (
        *equal(agent="planner", environment="live"),
        FilterCondition(field="agent", op="in", value=["a", "b"]),
    )
    wanted = TraceFilter(TimeRange(END - timedelta(days=1), END), conditions)
    traces, rollup = trace_conditions("wsp", wanted), dimension_conditions("wsp", conditions)
    assert rollup.parameters.items() <= traces.parameters.items()
    assert set(rollup.clauses) <= set(traces.clauses)


def test_values_are_bound_and_never_part_of_the_statement() -> None:
    text = "' OR 1 --"
    conditions = (
        *equal(name=text),
        FilterCondition(field=f"attribute:{text}", op="contains", value=text),
    )
    where = trace_conditions("wsp", TraceFilter(conditions=conditions, search=text))
    assert text not in where.sql
    assert list(where.parameters.values()).count(text) >= 3
    assert where.clauses[0] == "workspace = {workspace:String}"
