"""Adds up what became of an experiment's units. The engine does it; only sums leave it.

An outcome (a trace or a signal) belongs to the unit that is its user, else to the one that is its
session. One that names the experiment's variant but no known unit stands for itself, or for its
user or session. What a unit did in the days before its first exposure is added up beside it.

A unit is torn when its traces or signals name another variant than its own; it counts nowhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from spanwise.model.experiments.definition import TraceMetric
from spanwise.model.experiments.sums import QUANTILE, QUANTILE_LEVELS, ClusterSums, MetricSums
from spanwise.model.telemetry.signals import MAX_SIGNAL
from spanwise.storage.telemetry.engine.conditions import Conditions, to_engine_time
from spanwise.storage.telemetry.engine.engine import Engine
from spanwise.storage.telemetry.signals.signals import complete_signals

HISTORY_DAYS = 14
# Forgiven to outcomes that name the variant themselves: clocks differ, and a trace may have ended
# on its own machine just before the exposure was written here.
CLOCK_SECONDS = 60
_NO_VARIANT = 255


@dataclass(frozen=True)
class OutcomeScope:
    """Which outcomes count: of which experiment, under which names, between which times."""

    workspace: str
    experiment_id: str
    names: tuple[str, ...]
    variants: tuple[str, ...]
    agent_name: str | None
    started_at: datetime
    until: datetime

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "workspace": self.workspace,
            "experiment": self.experiment_id,
            "names": list(self.names),
            "variants": list(self.variants),
            "places": list(range(len(self.variants))),
            "agent": self.agent_name or "",
            "started": to_engine_time(self.started_at),
            "since": to_engine_time(self.started_at - timedelta(days=HISTORY_DAYS)),
            "until": to_engine_time(self.until),
        }


@dataclass(frozen=True)
class Exposed:
    """Units by the place of their variant; `mixed` ones were given more than one."""

    units: Mapping[int, int]
    mixed: int


@dataclass(frozen=True)
class Outcomes:
    """Sums of each metric.

    `torn` counts, by place, the exposed units whose outcomes name another variant than theirs.
    """

    sums: Sequence[MetricSums]
    torn: Mapping[int, int]


async def count_exposed(engine: Engine, scope: OutcomeScope) -> Exposed:
    rows = await engine.fetch(
        f"""SELECT place, is_mixed, count() AS units FROM ({_MEMBERS})
        GROUP BY place, is_mixed""",
        scope.parameters,
        tag="count_exposed",
    )
    return Exposed(
        {row["place"]: row["units"] for row in rows if not row["is_mixed"]},
        sum(row["units"] for row in rows if row["is_mixed"]),
    )


async def sum_traces(
    engine: Engine, scope: OutcomeScope, metrics: Sequence[TraceMetric]
) -> Outcomes:
    """Add up metrics of traces, all in one pass."""
    values = [_TRACE_VALUES[metric] for metric in metrics]
    return await _sum(engine, _TRACES, values, scope.parameters, "sum_traces")


async def sum_signals(
    engine: Engine, scope: OutcomeScope, name: str, *, without_torn: bool
) -> Outcomes:
    """Add up a signal, if asked without the units that are torn."""
    where = Conditions(scope.workspace)
    where.add("name = {signal:String}", signal=name)
    # Signals that were stored before they were limited must not spoil all others.
    where.add("abs(value) <= {max_signal:Float64}", max_signal=MAX_SIGNAL)
    where.add("time >= {since:DateTime64(9, 'UTC')} AND time < {until:DateTime64(9, 'UTC')}")
    signals = f"""
        SELECT user_id, session_id, sipHash64(id) AS own, time AS began, time AS ended,
            experiment_id, variant, agent_name, value, 1 AS is_measured
        FROM ({complete_signals(where)})"""
    parameters = {**scope.parameters, **where.parameters}
    condition = f"unit NOT IN ({_TORN})" if without_torn else "1"
    return await _sum(engine, signals, ["value"], parameters, "sum_signals", condition)


async def sum_below_quantile(
    engine: Engine, scope: OutcomeScope
) -> tuple[Outcomes, Mapping[int, Sequence[float]]]:
    """Add up how many traces are not slower than the 95th percentile of their variant."""
    levels = ", ".join(map(str, QUANTILE_LEVELS))
    rows = await engine.fetch(
        f"""SELECT of_unit AS place, quantilesTDigestArray({levels})(durations) AS quantiles FROM (
            SELECT any(place) AS of_unit, {_IS_TORN} AS torn,
                groupArrayIf(duration_ns / 1e6, is_after) AS durations
            FROM ({_bind(_TRACES, "duration_ns")}) GROUP BY unit)
        WHERE NOT torn AND notEmpty(durations) GROUP BY of_unit""",
        scope.parameters,
        tag="find_quantiles",
    )
    quantiles = {row["place"]: [float(q) for q in row["quantiles"]] for row in rows}
    middle = QUANTILE_LEVELS.index(QUANTILE)
    cuts = [quantiles[p][middle] if p in quantiles else 0 for p in range(len(scope.variants))]
    value = "toFloat64(toFloat32(duration_ns / 1e6) <= {cuts:Array(Float64)}[place + 1])"
    parameters = {**scope.parameters, "cuts": cuts}
    outcomes = await _sum(engine, _TRACES, [value], parameters, "sum_below_quantile")
    return outcomes, quantiles


_UNITS = """SELECT unit FROM exposures
    WHERE workspace = {workspace:String} AND experiment_id = {experiment:String}"""

_MEMBERS = """
    SELECT unit, min(first_at) AS exposed_at, min(least_variant) AS place,
        max(greatest_variant) != place AS is_mixed
    FROM exposures
    WHERE workspace = {workspace:String} AND experiment_id = {experiment:String}
    GROUP BY unit"""


def _telling_signals() -> str:
    """SQL for the signals that name the experiment."""
    where = Conditions("")
    where.add("experiment_id IN {names:Array(String)}")
    where.add("time >= {started:DateTime64(9, 'UTC')} AND time < {until:DateTime64(9, 'UTC')}")
    return complete_signals(where)


# The signals are not measured here; they only tell which units are torn.
_TRACES = f"""
    SELECT user_id, session_id, sipHash64(trace_id) AS own, start AS began,
        start + toIntervalNanosecond(duration_ns) AS ended, experiment_id, variant, agent_name,
        status, duration_ns, cost, input_tokens + output_tokens AS tokens, 1 AS is_measured
    FROM traces FINAL
    WHERE workspace = {{workspace:String}}
        AND start >= {{since:DateTime64(9, 'UTC')}} AND start < {{until:DateTime64(9, 'UTC')}}
    UNION ALL
    SELECT user_id, session_id, sipHash64(id), time, time, experiment_id, variant, agent_name,
        toLowCardinality('success'), toUInt64(0), 0., toUInt64(0), 0
    FROM ({_telling_signals()})"""

_TRACE_VALUES = {
    TraceMetric.SUCCESS_RATE: "toFloat64(status = 'success')",
    TraceMetric.LATENCY: "duration_ns / 1e6",
    TraceMetric.COST: "cost",
    TraceMetric.TOKENS: "toFloat64(tokens)",
}

_IS_TORN = "max(is_torn) OR min(place) != max(place)"


def _bind(outcomes: str, values: str) -> str:
    """SQL that gives each outcome its unit, the unit's variant, and whether it came after."""
    return f"""
    SELECT t.unit AS unit, m.unit != 0 AS is_exposed, m.is_mixed AS is_mixed,
        if(is_exposed, m.place, t.carried) AS place,
        if(is_exposed, m.exposed_at, t.began) AS exposed_at,
        is_mixed OR (t.carried != {_NO_VARIANT} AND t.carried != place) AS is_torn,
        t.ended >= exposed_at
            - toIntervalSecond(if(t.carried = {_NO_VARIANT}, 0, {CLOCK_SECONDS})) AS is_late,
        t.is_measured AND is_late AS is_after, t.is_measured AND NOT is_late AS is_before,
        {values}
    FROM (
        SELECT *,
            if(experiment_id IN {{names:Array(String)}}
                AND ended >= {{started:DateTime64(9, 'UTC')}} - toIntervalSecond({CLOCK_SECONDS}),
                transform(variant, {{variants:Array(String)}}, {{places:Array(UInt8)}},
                    toUInt8({_NO_VARIANT})), {_NO_VARIANT}) AS carried,
            multiIf(
                notEmpty(user_id) AND sipHash64(user_id) IN ({_UNITS}), sipHash64(user_id),
                notEmpty(session_id) AND sipHash64(session_id) IN ({_UNITS}),
                    sipHash64(session_id),
                carried = {_NO_VARIANT}, 0,
                notEmpty(user_id), sipHash64(user_id),
                notEmpty(session_id), sipHash64(session_id),
                own) AS unit
        FROM ({outcomes})
        WHERE unit != 0 AND ({{agent:String}} = '' OR agent_name = {{agent:String}}
            OR carried != {_NO_VARIANT})
    ) AS t
    LEFT ANY JOIN ({_MEMBERS}) AS m ON m.unit = t.unit
    WHERE t.began >= exposed_at - toIntervalDay({HISTORY_DAYS})"""


_TORN = f"""
    SELECT unit FROM (
        SELECT unit, {_IS_TORN} AS torn FROM ({_bind(_TRACES, "duration_ns")}) GROUP BY unit)
    WHERE torn"""


async def _sum(
    engine: Engine,
    outcomes: str,
    values: Sequence[str],
    parameters: Mapping[str, Any],
    tag: str,
    condition: str = "1",
) -> Outcomes:
    rows = await engine.fetch(_sums_sql(outcomes, values, condition), parameters, tag=tag)
    sums: list[dict[tuple[int, date], ClusterSums]] = [{} for _ in values]
    origins = [rows[0][f"origin{n}"] if rows else 0.0 for n in range(len(values))]
    torn: dict[int, int] = {}
    for row in rows:
        place = row["place"]
        if row["torn"]:
            torn[place] = torn.get(place, 0) + row["exposed"]
            continue
        for number, by_day in enumerate(sums):
            by_day[place, row["day"]] = _read_sums(row, number)
    return Outcomes([MetricSums(*parts) for parts in zip(origins, sums, strict=True)], torn)


def _sums_sql(outcomes: str, values: Sequence[str], condition: str) -> str:
    """First each unit's own sums, after and before it was exposed; then the sums over units.

    In between, values are counted from the mean over all units, see `MetricSums`.
    """
    numbers = range(len(values))
    named = ", ".join(f"{value} AS value{n}" for n, value in enumerate(values))
    of_units = ", ".join(
        f"sumIf(value{n}, is_after) AS whole_y{n}, sumIf(value{n}, is_before) AS whole_x{n}"
        for n in numbers
    )
    centred = ", ".join(
        f"sum(whole_y{n}) OVER () / greatest(sum(d) OVER (), 1) AS origin{n}, "
        f"whole_y{n} - origin{n} * d AS y{n}, whole_x{n} - origin{n} * e AS x{n}"
        for n in numbers
    )
    over_units = ", ".join(
        [f"any(origin{n}) AS origin{n}" for n in numbers]
        + [_sum_of(product, n) for n in numbers for product in _PRODUCTS]
    )
    return f"""
SELECT of_unit AS place, toDate(first_at) AS day, torn, count() AS units, sum(is_unit) AS exposed,
    countIf(e > 0) AS history, {", ".join(map(_sum_of, _COUNT_PRODUCTS))}, {over_units}
FROM (
    SELECT *, {centred} FROM (
        SELECT unit, any(place) AS of_unit, min(exposed_at) AS first_at,
            any(is_exposed AND NOT is_mixed) AS is_unit, {_IS_TORN} AS torn, countIf(is_after) AS d,
            countIf(is_before) AS e, {of_units}
        FROM ({_bind(outcomes, named)})
        GROUP BY unit
    )
    WHERE (d > 0 OR torn) AND {condition}
)
GROUP BY of_unit, day, torn"""


# Sums over units of products, named by their factors as in `ClusterSums`.
_COUNT_PRODUCTS = ("d", "dd", "e", "ee", "de", "ddd")
_PRODUCTS = ("y", "yy", "yd", "x", "xx", "xe", "yx", "ye", "dx", "yyy", "yyd", "ydd")


def _sum_of(product: str, number: int | None = None) -> str:
    """SQL for such a sum; y and x are those of one metric, by its number."""
    suffix = "" if number is None else str(number)
    factors = (f"{f}{suffix}" if f in "xy" else f"toFloat64({f})" for f in product)
    return f"sum({' * '.join(factors)}) AS sum_{product}{suffix}"


def _read_sums(row: Mapping[str, Any], number: int) -> ClusterSums:
    shared = {name: row[f"sum_{name}"] for name in _COUNT_PRODUCTS}
    own = {name: row[f"sum_{name}{number}"] for name in _PRODUCTS}
    return ClusterSums(units=row["units"], history=row["history"], **shared, **own)
