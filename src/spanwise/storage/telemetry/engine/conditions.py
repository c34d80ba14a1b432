"""Compiles filters to SQL conditions; callers' values are always bound parameters."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.times import TimeRange

# Must match the text index expression exactly, or the engine does not use the index.
WORDS = "lowerUTF8(concat(name, ' ', input, ' ', output))"

# Maintenance of one workspace, or of all when the parameter is empty.
OF_WORKSPACE_OR_ALL = "({workspace:String} = '' OR workspace = {workspace:String})"

# Every text search binds its words as this parameter; `Engine` runs such queries as heavy reads.
SEARCH_WORDS = "words"
_MAX_WORDS = 16


@dataclass
class Conditions:
    """A list of AND-ed conditions and their bound parameters; the workspace always comes first."""

    workspace: str
    clauses: list[str] = field(default_factory=lambda: ["workspace = {workspace:String}"])
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parameters["workspace"] = self.workspace

    def add(self, clause: str, **parameters: object) -> None:
        self.clauses.append(clause)
        self.parameters.update(parameters)

    def equals(self, column: str, value: str | None) -> None:
        if value is not None:
            self.add(f"{column} = {{{column}:String}}", **{column: value})

    def within(self, column: str, period: TimeRange) -> None:
        if period.start is not None:
            self.add(
                f"{column} >= {{after:DateTime64(9, 'UTC')}}", after=to_engine_time(period.start)
            )
        if period.end is not None:
            self.add(
                f"{column} < {{before:DateTime64(9, 'UTC')}}", before=to_engine_time(period.end)
            )

    def within_hours(self, column: str, period: TimeRange) -> None:
        """Also restrict an hour column; call after `within`, which binds the period."""
        if period.start is not None:
            self.add(f"{column} >= toStartOfHour({{after:DateTime64(9, 'UTC')}})")
        if period.end is not None:
            self.add(f"{column} < {{before:DateTime64(9, 'UTC')}}")

    @property
    def sql(self) -> str:
        return " AND ".join(self.clauses)


def quoted(text: str) -> str:
    """Quote a constant for generated SQL; values from callers are bound instead."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def to_engine_time(moment: datetime) -> str:
    """Format a time the way the engine binds it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def to_engine_seconds(moment: datetime) -> str:
    """Format a time in whole seconds."""
    return to_engine_time(moment)[:19]


def trace_conditions(workspace: str, wanted: TraceFilter) -> Conditions:
    """Return the conditions of a filter on the `traces` table."""
    where = Conditions(workspace)
    where.within("start", wanted.period)
    where.equals("agent_name", wanted.agent_name)
    where.equals("status", wanted.status)
    where.equals("error_type", wanted.error_type)
    where.equals("session_id", wanted.session_id)
    where.equals("user_id", wanted.user_id)
    where.equals("environment", wanted.environment)
    where.equals("experiment_id", wanted.experiment_id)
    where.equals("variant", wanted.variant)
    if wanted.model is not None:
        where.add("has(models, {model:String})", model=wanted.model)
    if wanted.provider is not None:
        where.add("has(providers, {provider:String})", provider=wanted.provider)
    if wanted.tool is not None:
        where.add("has(tools, {tool:String})", tool=wanted.tool)
    if wanted.min_duration_ms is not None:
        where.add("duration_ns >= {min_ns:Float64}", min_ns=wanted.min_duration_ms * 1e6)
    if wanted.max_duration_ms is not None:
        where.add("duration_ns <= {max_ns:Float64}", max_ns=wanted.max_duration_ms * 1e6)
    if wanted.min_cost is not None:
        where.add("cost >= {min_cost:Float64}", min_cost=wanted.min_cost)
    if wanted.search is not None:
        _add_search(where, wanted)
    return where


def _add_search(where: Conditions, wanted: TraceFilter) -> None:
    """Match traces with a span that contains all words, through the text index on spans."""
    words = split_words(wanted.search or "")
    if not words:
        where.add("0")
        return
    period = ""
    if wanted.period.start is not None:
        period += " AND hour >= toStartOfHour({after:DateTime64(9, 'UTC')})"
    # Without `identity` the engine sorts all ids for the primary key, where the id comes last.
    where.add(
        f"""identity(trace_id) IN (
            SELECT trace_id FROM spans WHERE workspace = {{workspace:String}}{period}
            AND hasAllTokens({WORDS}, {{{SEARCH_WORDS}:Array(String)}}))""",
        **{SEARCH_WORDS: words},
    )


def split_words(text: str) -> list[str]:
    """Split like the text index: at ASCII characters that are neither letters nor digits."""
    found = re.findall(r"[0-9a-z\u0080-\U0010ffff]+", text.lower())
    return list(dict.fromkeys(found))[:_MAX_WORDS]
