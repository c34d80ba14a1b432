"""Landing tables: OTLP data is inserted here, and a view extracts rows into the real tables."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from spanwise.storage.telemetry.extraction.point_extraction import METRICS_COLUMNS, metrics_select
from spanwise.storage.telemetry.extraction.span_extraction import (
    LOGS_COLUMNS,
    SPANS_COLUMNS,
    logs_select,
    spans_select,
)


@dataclass(frozen=True)
class LandingTable:
    """A Null table: inserted rows pass through its materialized view into the target table.

    The name ends in a hash of the SQL. Replicas of two versions therefore use separate landing
    tables, and none is ever replaced during ingest: without its view it would lose rows.
    """

    target: str
    columns: str
    select: Callable[[str], str]

    @cached_property
    def name(self) -> str:
        text = self.columns + self.select("")
        return f"{self._prefix}{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @property
    def _prefix(self) -> str:
        return f"landing_{self.target}_"

    def is_other_version(self, name: str) -> bool:
        """Return whether this is the name of another version of this table, not of its view."""
        return re.fullmatch(f"{self._prefix}[0-9a-f]{{8}}", name) is not None and name != self.name


LANDING_TABLES = {
    target: LandingTable(target, columns, select)
    for target, columns, select in (
        ("spans", SPANS_COLUMNS, spans_select),
        ("logs", LOGS_COLUMNS, logs_select),
        ("metric_points", METRICS_COLUMNS, metrics_select),
    )
}
