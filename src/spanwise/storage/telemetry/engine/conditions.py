"""SQL conditions with bound parameters, and how texts are split into words for search."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from spanwise.model.times import TimeRange

# Must match the text index expression exactly, or the engine does not use the index.
WORDS = "lowerUTF8(concat(name, ' ', input, ' ', output))"

# Maintenance of one workspace, or of all when the parameter is empty.
OF_WORKSPACE_OR_ALL = "({workspace:String} = '' OR workspace = {workspace:String})"

# Every text search binds its words as this parameter; `Engine` runs such queries as heavy reads.
SEARCH_WORDS = "words"
# Queries that read contents of spans over a long time bind this, and run as heavy reads, too.
IS_HEAVY = "is_heavy"
_MAX_WORDS = 16


@dataclass
class Conditions:
    """A list of AND-ed conditions and their bound parameters; the workspace always comes first."""

    workspace: str
    clauses: list[str] = field(default_factory=lambda: ["workspace = {workspace:String}"])
    parameters: dict[str, Any] = field(default_factory=dict)
    _bound: int = 0

    def __post_init__(self) -> None:
        self.parameters["workspace"] = self.workspace

    def add(self, clause: str, **parameters: object) -> None:
        self.clauses.append(clause)
        self.parameters.update(parameters)

    def narrowed(self, clause: str = "1", **parameters: object) -> "Conditions":
        """Return a copy with one more condition."""
        copy = Conditions(self.workspace, [*self.clauses], {**self.parameters}, self._bound)
        copy.add(clause, **parameters)
        return copy

    def bind(self, value: object, kind: str = "String") -> str:
        """Bind a value and return its placeholder."""
        self._bound += 1
        return self.bind_once(f"bound_{self._bound}", value, kind)

    def bind_once(self, name: str, value: object, kind: str = "DateTime64(9, 'UTC')") -> str:
        """Bind a value by name, the same one each time, and return its placeholder."""
        self.parameters[name] = value
        return f"{{{name}:{kind}}}"

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


def split_words(text: str) -> list[str]:
    """Split like the text index: at ASCII characters that are neither letters nor digits."""
    found = re.findall(r"[0-9a-z\u0080-\U0010ffff]+", text.lower())
    return list(dict.fromkeys(found))[:_MAX_WORDS]
