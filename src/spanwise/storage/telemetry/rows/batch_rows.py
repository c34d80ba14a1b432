"""Finds the rows of an ingest batch by primary key, so that the cost does not grow with history.

A batch's rows have versions of one range. A search by version alone would look at the index of
every part that was ever written, so it is bound to the batch's workspaces and hours as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

HOUR_SECONDS = 3600
# A batch with more hours (a backfill) is searched between the first and the last one.
_MAX_LISTED_HOURS = 500


@dataclass(frozen=True)
class BatchRows:
    """The versions of a batch, and the workspaces and hours of its spans.

    `workspaces` is None when they and the hours are not known: for a batch that is replayed from
    the journal, or when several batches are searched together.
    """

    first_version: int
    last_version: int
    workspaces: frozenset[str] | None = None
    # Hours since 1970.
    hours: frozenset[int] = frozenset()

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that `condition` binds."""
        versions = {"first": self.first_version, "last": self.last_version}
        if self.workspaces is None:
            return versions
        hours = sorted(self.hours)
        if self._are_hours_listed:
            return {**versions, "workspaces": sorted(self.workspaces), "hours": _bind(hours)}
        first_hour, last_hour = _bind([hours[0], hours[-1]])
        return {
            **versions,
            "workspaces": sorted(self.workspaces),
            "first_hour": first_hour,
            "last_hour": last_hour,
        }

    def condition(self) -> str:
        """SQL condition on a batch's spans."""
        versions = "version BETWEEN {first:UInt64} AND {last:UInt64}"
        if self.workspaces is None:
            return versions
        hours = (
            "hour IN {hours:Array(DateTime('UTC'))}"
            if self._are_hours_listed
            else "hour BETWEEN {first_hour:DateTime('UTC')} AND {last_hour:DateTime('UTC')}"
        )
        return f"workspace IN {{workspaces:Array(String)}} AND {hours} AND {versions}"

    @property
    def traces(self) -> str:
        """SQL for the workspaces and ids of a batch's traces."""
        return f"SELECT workspace, trace_id FROM spans WHERE {self.condition()}"

    def join(self, other: "BatchRows") -> "BatchRows":
        """Return the rows of both batches, and of those between them."""
        workspaces = (
            None
            if self.workspaces is None or other.workspaces is None
            else self.workspaces | other.workspaces
        )
        return BatchRows(
            min(self.first_version, other.first_version),
            max(self.last_version, other.last_version),
            workspaces,
            self.hours | other.hours,
        )

    @property
    def _are_hours_listed(self) -> bool:
        return len(self.hours) <= _MAX_LISTED_HOURS


def _bind(hours: Iterable[int]) -> list[str]:
    times = (datetime.fromtimestamp(hour * HOUR_SECONDS, UTC) for hour in hours)
    return [f"{time:%Y-%m-%d %H:%M:%S}" for time in times]
