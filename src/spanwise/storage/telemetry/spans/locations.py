"""Where a trace lies: between which hours, so that its rows are found by key and not by a scan."""

from dataclasses import dataclass
from datetime import datetime

from spanwise.storage.telemetry.engine.engine import Engine

# For tables that are sorted by workspace and hour.
IN_PLACE = """workspace = {workspace:String} AND trace_id = unhex({trace:String})
    AND hour BETWEEN {first_hour:DateTime('UTC')} AND {last_hour:DateTime('UTC')}"""
# The same for tables with the exact time. As DateTime64: of a bound in whole seconds the engine's
# index loses the last one (`< 10:00:00` is `<= 09:59:59` to it).
STARTS_IN_PLACE = """workspace = {workspace:String} AND trace_id = unhex({trace:String})
    AND start >= {first_hour:DateTime64(9, 'UTC')}
    AND start < {last_hour:DateTime64(9, 'UTC')} + INTERVAL 1 HOUR"""


def binary_trace_id(text: str) -> str:
    """SQL for a trace id as the tables hold it, from SQL for its 32 hexadecimal digits.

    Of their very type: `IN` compares other types as text, and a text loses zero bytes at its end.
    Cut, because an imported text may be longer, and the engine would refuse the whole question.
    """
    return f"toFixedString(left(unhex({text}), 16), 16)"


# Of a trace that lasts longer, the start is looked for in its first year.
_MAX_HOURS = 366 * 24


def starts_in_hours_of(traces: str) -> str:
    """SQL condition that finds rows of `traces` by key, from SQL for their workspaces and ids."""
    return f"""(workspace, toStartOfHour(start), trace_id) IN (
        SELECT workspace, arrayJoin(arrayMap(n -> from_hour + 3600 * n,
            range(toUInt32(least(dateDiff('hour', from_hour, to_hour) + 1, {_MAX_HOURS}))))),
            trace_id
        FROM (SELECT workspace, trace_id, min(first_hour) AS from_hour, max(last_hour) AS to_hour
            FROM trace_bounds WHERE (workspace, trace_id) IN ({traces})
            GROUP BY workspace, trace_id))"""


@dataclass(frozen=True)
class Place:
    workspace: str
    trace_id: str
    first_hour: datetime
    last_hour: datetime

    @property
    def parameters(self) -> dict[str, str]:
        """What the conditions above bind."""
        return {
            "workspace": self.workspace,
            "trace": self.trace_id,
            "first_hour": self.first_hour.strftime("%Y-%m-%d %H:%M:%S"),
            "last_hour": self.last_hour.strftime("%Y-%m-%d %H:%M:%S"),
        }


async def find_place(engine: Engine, workspace: str, trace_id: str) -> Place | None:
    """Return where the trace lies, or None when the workspace has no span of it."""
    rows = await engine.fetch(
        """SELECT min(first_hour) AS first_hour, max(last_hour) AS last_hour FROM trace_bounds
        WHERE workspace = {workspace:String} AND trace_id = unhex({trace:String})
        HAVING count() > 0""",
        {"workspace": workspace, "trace": trace_id},
        tag="find_place",
    )
    return Place(workspace, trace_id, **rows[0]) if rows else None
