"""Reports the use of coding agents: cost and tokens of their calls, work by their metrics."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spanwise.model.analytics import NO_NAME
from spanwise.model.telemetry.coding_agents import (
    ACCEPTED,
    CACHE_WRITE,
    CACHED,
    INPUT,
    METRICS,
    OUTPUT,
    REJECTED,
    TOKEN_PARTS,
    AgentUsage,
    Billing,
    BillingShare,
    CodingAgentsReport,
    CodingDay,
    CodingSession,
    CodingTotals,
    LanguageEdits,
    Measure,
    ModelUsage,
    PersonUsage,
    RepositoryUsage,
    UsageSource,
)
from spanwise.model.times import BoundedRange, Granularity, bucket_label
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.metrics.coding_agents import MAX_NAMES, CodingAgentReader
from spanwise.storage.telemetry.rows.decoding import in_utc, or_none

_PART_FIELDS = {
    INPUT: "input_tokens",
    CACHED: "cached_tokens",
    CACHE_WRITE: "cache_write_tokens",
    OUTPUT: "output_tokens",
}
_SUMS = (
    *("cost", "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens"),
    *("sessions", "traces"),
)
_MEASURE_FIELDS = {
    Measure.COMMITS: "commits",
    Measure.PULL_REQUESTS: "pull_requests",
    Measure.ACTIVE_SECONDS: "active_seconds",
    Measure.COST: "cost",
    Measure.SESSIONS: "sessions",
}


@dataclass
class _Sums:
    """Sums by field, of one name or of one day."""

    values: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    has_calls: bool = False
    has_metrics: bool = False

    def fields(self) -> dict[str, Any]:
        """Return the fields of `Usage` and `Work`."""
        given = {
            name: value if name in {"cost", "active_seconds"} else round(value)
            for name, value in self.values.items()
        }
        total = self.values["input_tokens"]
        ratio = self.values["cached_tokens"] / total if total else None
        return {**given, "cache_hit_ratio": ratio}

    @property
    def source(self) -> UsageSource:
        match self.has_calls, self.has_metrics:
            case True, True:
                return UsageSource.BOTH
            case True, False:
                return UsageSource.CALLS
            case False, True:
                return UsageSource.METRICS
        return UsageSource.NONE


Named = dict[str, _Sums]


class CodingAgents:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def report(self, workspace: str, period: BoundedRange) -> CodingAgentsReport:
        days = period.buckets(Granularity.DAILY)
        reader = CodingAgentReader(self._engine, workspace, period)
        calls, models, sessions, metrics = await asyncio.gather(
            reader.sum_calls(), reader.sum_models(), reader.find_sessions(), reader.sum_metrics()
        )
        report = _Report()
        report.add_calls(calls)
        report.add_models(models)
        report.add_metrics(metrics)
        dates = [bucket_label(day, Granularity.DAILY) for day in days]
        return report.finish(dates, [_to_session(row) for row in sessions])


class _Report:
    """Adds up rows of calls and of metrics."""

    def __init__(self) -> None:
        self.total = _Sums()
        self.by: dict[str, Named] = {
            name: defaultdict(_Sums) for name in ("agent", "person", "repository", "billing")
        }
        self.models: Named = defaultdict(_Sums)
        # By date, then by agent.
        self.days: dict[str, Named] = defaultdict(lambda: defaultdict(_Sums))
        self.edits: Named = defaultdict(_Sums)
        self.measures: set[Measure] = set()

    def add_calls(self, rows: Rows) -> None:
        for row in rows:
            match row["by"]:
                case "total":
                    sums = self.total
                case "day":
                    sums = self.days[f"{row['day']:%Y-%m-%d}"][row["agent"]]
                case name:
                    sums = self.by[name][row[name]]
            if row["traces"]:
                sums.has_calls = True
                for name in _SUMS:
                    sums.values[name] += row[name]

    def add_models(self, rows: Rows) -> None:
        for row in rows:
            sums = self.models[row["model"]]
            for name in ("cost", "input_tokens", "output_tokens"):
                sums.values[name] += row[name]

    def add_metrics(self, rows: Rows) -> None:
        for row in rows:
            measure = METRICS[row["metric"]]
            self.measures.add(measure)
            fields = _fields_of(measure, row)
            targets = [
                self.total,
                *(self.by[name][row[name]] for name in ("agent", "person", "repository")),
            ]
            if measure is Measure.EDITS:
                targets.append(self.edits[row["language"]])
            if measure in {Measure.COST, Measure.TOKENS}:
                targets += [
                    self.models[row["model"]],
                    self.by["billing"][""],
                    self.days[f"{row['day']:%Y-%m-%d}"][row["agent"]],
                ]
                for sums in targets:
                    sums.has_metrics = True
            for sums in targets:
                for name in fields:
                    sums.values[name] += row["amount"]

    def finish(self, dates: list[str], sessions: list[CodingSession]) -> CodingAgentsReport:
        people = self.by["person"]
        total = self.total.values["cost"]
        return CodingAgentsReport(
            totals=CodingTotals(**self.total.fields(), people=sum(1 for name in people if name)),
            agents=[
                AgentUsage(agent=name, source=sums.source, **sums.fields())
                for name, sums in _largest(self.by["agent"])
            ],
            people=[
                PersonUsage(person=name or NO_NAME, **sums.fields())
                for name, sums in _largest(people)
            ],
            repositories=[
                RepositoryUsage(repository=name or NO_NAME, **sums.fields())
                for name, sums in _largest(self.by["repository"])
            ],
            models=[
                ModelUsage(
                    model=name or NO_NAME,
                    cost=sums.values["cost"],
                    input_tokens=round(sums.values["input_tokens"]),
                    output_tokens=round(sums.values["output_tokens"]),
                )
                for name, sums in _largest(self.models)
            ],
            billing=[
                BillingShare(
                    billing=Billing(name or Billing.UNKNOWN),
                    cost=sums.values["cost"],
                    share=sums.values["cost"] / total if total else 0.0,
                )
                for name, sums in _largest(self.by["billing"])
            ],
            days=[_to_day(date, self.days.get(date, {})) for date in dates],
            edits=[
                LanguageEdits(
                    language=name or NO_NAME,
                    accepted=round(sums.values["edits_accepted"]),
                    rejected=round(sums.values["edits_rejected"]),
                )
                for name, sums in sorted(
                    self.edits.items(), key=lambda item: -sum(item[1].values.values())
                )[:MAX_NAMES]
            ],
            sessions=sessions,
            not_sent=self._find_missing(),
        )

    def _find_missing(self) -> list[str]:
        missing = [
            name for name in ("person", "repository") if not any(filter(None, self.by[name]))
        ]
        required = (
            *(Measure.LINES, Measure.COMMITS, Measure.PULL_REQUESTS),
            *(Measure.ACTIVE_SECONDS, Measure.EDITS),
        )
        return missing + [str(measure) for measure in required if measure not in self.measures]


def _fields_of(measure: Measure, row: Mapping[str, Any]) -> list[str]:
    """Return the fields that a row of metrics adds to."""
    match measure:
        case Measure.LINES:
            kinds = {"added": "lines_added", "removed": "lines_removed"}
            return [kinds[row["kind"]]] if row["kind"] in kinds else []
        case Measure.EDITS:
            if row["decision"] in ACCEPTED:
                return ["edits_accepted"]
            return ["edits_rejected"] if row["decision"] in REJECTED else []
        case Measure.TOKENS:
            parts = TOKEN_PARTS.get((row["metric"], row["kind"]), ())
            return [_PART_FIELDS[part] for part in parts]
    return [_MEASURE_FIELDS[measure]]


def _largest(named: Named) -> list[tuple[str, _Sums]]:
    """Return the names with the highest cost, then the most tokens."""

    def order(item: tuple[str, _Sums]) -> tuple[float, float, str]:
        values = item[1].values
        return -values["cost"], -values["input_tokens"] - values["output_tokens"], item[0]

    return sorted(named.items(), key=order)[:MAX_NAMES]


def _to_day(date: str, by_agent: Mapping[str, _Sums]) -> CodingDay:
    def total(name: str) -> float:
        return sum(sums.values[name] for sums in by_agent.values())

    return CodingDay(
        date=date,
        cost=total("cost"),
        input_tokens=round(total("input_tokens")),
        output_tokens=round(total("output_tokens")),
        cached_tokens=round(total("cached_tokens")),
        cost_by_agent={name: sums.values["cost"] for name, sums in by_agent.items()},
    )


def _to_session(row: Mapping[str, Any]) -> CodingSession:
    return CodingSession(
        session_id=row["session_id"],
        agent=row["agent"],
        person=or_none(row["person"]),
        repository=or_none(row["repository"]),
        first_at=in_utc(row["first_at"]),
        last_at=in_utc(row["last_at"]),
        traces=row["traces"],
        tool_calls=row["tool_calls"],
        total_tokens=row["total_tokens"],
        cost=row["total_cost"],
        input_preview=row["input"],
    )
