"""Aggregates outcomes of an experiment's units into sums per variant and day.

An outcome is a trace or a signal. It belongs to its user if that is an exposed unit, else to its
session if that is one. Without an exposed unit, an outcome that names a variant counts for its user
or session, or as a unit by itself. Outcomes before the first exposure are summed separately.

A unit is conflicting when its outcomes name another variant than its own; it is excluded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from spanwise.model.experiments.definition import TraceMetric
from spanwise.model.experiments.sums import QUANTILE, QUANTILE_LEVELS, ClusterSums, MetricSums
from spanwise.model.telemetry.signals import MAX_SIGNAL
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions, to_engine_time
from spanwise.storage.telemetry.signals.signal_queries import complete_signals

HISTORY_DAYS = 14
# Tolerance for outcomes that name the variant themselves: clocks differ, and a trace may have ended
# on the client just before the exposure was recorded here.
CLOCK_SKEW_SECONDS = 60
# Variants are numbered in the order of the experiment: their arm.
_NO_ARM = 255


@dataclass(frozen=True)
class OutcomeScope:
    """Selects outcomes: the experiment with its names and variants, agent and period."""

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
            "arms": list(range(len(self.variants))),
            "agent": self.agent_name or "",
            "started": to_engine_time(self.started_at),
            "since": to_engine_time(self.started_at - timedelta(days=HISTORY_DAYS)),
            "until": to_engine_time(self.until),
        }


@dataclass(frozen=True)
class Exposed:
    """Number of exposed units by arm; `mixed` ones were exposed to more than one."""

    units: Mapping[int, int]
    mixed: int


@dataclass(frozen=True)
class Outcomes:
    """Sums per metric, and the number of conflicting exposed units by arm."""

    sums: Sequence[MetricSums]
    conflicting: Mapping[int, int]


async def count_exposed(engine: Engine, scope: OutcomeScope) -> Exposed:
    rows = await engine.fetch(
        f"""SELECT arm, is_mixed, count() AS units FROM ({_EXPOSED_UNITS})
        GROUP BY arm, is_mixed""",
        scope.parameters,
        tag="count_exposed",
    )
    return Exposed(
        {row["arm"]: row["units"] for row in rows if not row["is_mixed"]},
        sum(row["units"] for row in rows if row["is_mixed"]),
    )


async def sum_traces(
    engine: Engine, scope: OutcomeScope, metrics: Sequence[TraceMetric]
) -> Outcomes:
    """Sum trace metrics, all in one pass."""
    values = [TRACE_VALUES[metric] for metric in metrics]
    return await _sum(engine, _TRACES, values, scope.parameters, "sum_traces")


async def sum_signals(
    engine: Engine, scope: OutcomeScope, name: str, *, exclude_conflicting: bool
) -> Outcomes:
    """Sum a signal's values, optionally without conflicting units."""
    where = Conditions(scope.workspace)
    where.add("name = {signal:String}", signal=name)
    # Values stored before the limit existed must not distort the sums.
    where.add("abs(value) <= {max_signal:Float64}", max_signal=MAX_SIGNAL)
    where.add("time >= {since:DateTime64(9, 'UTC')} AND time < {until:DateTime64(9, 'UTC')}")
    signals = f"""
        SELECT user_id, session_id, sipHash64(id) AS own, time AS began, time AS ended,
            experiment_id, variant, agent_name, value, 1 AS is_measured
        FROM ({complete_signals(where)})"""
    parameters = {**scope.parameters, **where.parameters}
    condition = f"unit NOT IN ({_CONFLICTING_UNITS})" if exclude_conflicting else "1"
    return await _sum(engine, signals, ["value"], parameters, "sum_signals", condition)


async def sum_below_quantile(
    engine: Engine, scope: OutcomeScope
) -> tuple[Outcomes, Mapping[int, Sequence[float]]]:
    """Count traces at or below the 95th percentile of their variant, and return the quantiles."""
    levels = ", ".join(map(str, QUANTILE_LEVELS))
    rows = await engine.fetch(
        f"""SELECT unit_arm AS arm, quantilesTDigestArray({levels})(durations) AS quantiles FROM (
            SELECT any(arm) AS unit_arm, {_IS_CONFLICTING} AS conflicting,
                groupArrayIf(duration_ns / 1e6, is_after) AS durations
            FROM ({_assign_units_sql(_TRACES, "duration_ns")}) GROUP BY unit)
        WHERE NOT conflicting AND notEmpty(durations) GROUP BY unit_arm""",
        scope.parameters,
        tag="find_quantiles",
    )
    quantiles = {row["arm"]: [float(q) for q in row["quantiles"]] for row in rows}
    middle = QUANTILE_LEVELS.index(QUANTILE)
    cuts = [quantiles[p][middle] if p in quantiles else 0 for p in range(len(scope.variants))]
    value = "toFloat64(toFloat32(duration_ns / 1e6) <= {cuts:Array(Float64)}[arm + 1])"
    parameters = {**scope.parameters, "cuts": cuts}
    outcomes = await _sum(engine, _TRACES, [value], parameters, "sum_below_quantile")
    return outcomes, quantiles


_UNIT_HASHES = """SELECT unit FROM exposures
    WHERE workspace = {workspace:String} AND experiment_id = {experiment:String}"""

_EXPOSED_UNITS = """
    SELECT unit, min(first_at) AS exposed_at, min(least_variant) AS arm,
        max(greatest_variant) != arm AS is_mixed
    FROM exposures
    WHERE workspace = {workspace:String} AND experiment_id = {experiment:String}
    GROUP BY unit"""


def _experiment_signals() -> str:
    """SQL for signals that name the experiment."""
    where = Conditions("")
    where.add("experiment_id IN {names:Array(String)}")
    where.add("time >= {started:DateTime64(9, 'UTC')} AND time < {until:DateTime64(9, 'UTC')}")
    return complete_signals(where)


# Includes signals that name the experiment: not measured, they only reveal conflicting units.
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
    FROM ({_experiment_signals()})"""

TRACE_VALUES = {
    TraceMetric.SUCCESS_RATE: "toFloat64(status = 'success')",
    TraceMetric.LATENCY: "duration_ns / 1e6",
    TraceMetric.COST: "cost",
    TraceMetric.TOKENS: "toFloat64(tokens)",
}

_IS_CONFLICTING = "max(has_conflict) OR min(arm) != max(arm)"


def _assign_units_sql(outcomes: str, values: str) -> str:
    """SQL that assigns each outcome its unit, arm, and side of the first exposure."""
    return f"""
    SELECT t.unit AS unit, m.unit != 0 AS is_exposed, m.is_mixed AS is_mixed,
        if(is_exposed, m.arm, t.named_arm) AS arm,
        if(is_exposed, m.exposed_at, t.began) AS exposed_at,
        is_mixed OR (t.named_arm != {_NO_ARM} AND t.named_arm != arm) AS has_conflict,
        t.ended >= exposed_at
            - toIntervalSecond(if(t.named_arm = {_NO_ARM}, 0, {CLOCK_SKEW_SECONDS})) AS is_late,
        t.is_measured AND is_late AS is_after, t.is_measured AND NOT is_late AS is_before,
        {values}
    FROM (
        SELECT *,
            if(experiment_id IN {{names:Array(String)}}
                AND ended >= {{started:DateTime64(9, 'UTC')}}
                    - toIntervalSecond({CLOCK_SKEW_SECONDS}),
                transform(variant, {{variants:Array(String)}}, {{arms:Array(UInt8)}},
                    toUInt8({_NO_ARM})), {_NO_ARM}) AS named_arm,
            multiIf(
                notEmpty(user_id) AND sipHash64(user_id) IN ({_UNIT_HASHES}), sipHash64(user_id),
                notEmpty(session_id) AND sipHash64(session_id) IN ({_UNIT_HASHES}),
                    sipHash64(session_id),
                named_arm = {_NO_ARM}, 0,
                notEmpty(user_id), sipHash64(user_id),
                notEmpty(session_id), sipHash64(session_id),
                own) AS unit
        FROM ({outcomes})
        WHERE unit != 0 AND ({{agent:String}} = '' OR agent_name = {{agent:String}}
            OR named_arm != {_NO_ARM})
    ) AS t
    LEFT ANY JOIN ({_EXPOSED_UNITS}) AS m ON m.unit = t.unit
    WHERE t.began >= exposed_at - toIntervalDay({HISTORY_DAYS})"""


_CONFLICTING_UNITS = f"""
    SELECT unit FROM (
        SELECT unit, {_IS_CONFLICTING} AS conflicting
        FROM ({_assign_units_sql(_TRACES, "duration_ns")}) GROUP BY unit)
    WHERE conflicting"""


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
    conflicting: dict[int, int] = {}
    for row in rows:
        arm = row["arm"]
        if row["conflicting"]:
            conflicting[arm] = conflicting.get(arm, 0) + row["exposed"]
            continue
        for number, by_day in enumerate(sums):
            by_day[arm, row["day"]] = _read_sums(row, number)
    return Outcomes([MetricSums(*parts) for parts in zip(origins, sums, strict=True)], conflicting)


def _sums_sql(outcomes: str, values: Sequence[str], condition: str) -> str:
    """SQL that sums per unit, before and after exposure, and then over units.

    Values are centered on the mean over all units in between, see `MetricSums`.
    """
    numbers = range(len(values))
    named = ", ".join(f"{value} AS value{n}" for n, value in enumerate(values))
    per_unit = ", ".join(
        f"sumIf(value{n}, is_after) AS total_y{n}, sumIf(value{n}, is_before) AS total_x{n}"
        for n in numbers
    )
    centered = ", ".join(
        f"sum(total_y{n}) OVER () / greatest(sum(d) OVER (), 1) AS origin{n}, "
        f"total_y{n} - origin{n} * d AS y{n}, total_x{n} - origin{n} * e AS x{n}"
        for n in numbers
    )
    over_units = ", ".join(
        [f"any(origin{n}) AS origin{n}" for n in numbers]
        + [_sum_of(product, n) for n in numbers for product in _PRODUCTS]
    )
    return f"""
SELECT unit_arm AS arm, toDate(first_at) AS day, conflicting, count() AS units,
    sum(is_unit) AS exposed,
    countIf(e > 0) AS history, {", ".join(map(_sum_of, _COUNT_PRODUCTS))}, {over_units}
FROM (
    SELECT *, {centered} FROM (
        SELECT unit, any(arm) AS unit_arm, min(exposed_at) AS first_at,
            any(is_exposed AND NOT is_mixed) AS is_unit, {_IS_CONFLICTING} AS conflicting,
            countIf(is_after) AS d, countIf(is_before) AS e, {per_unit}
        FROM ({_assign_units_sql(outcomes, named)})
        GROUP BY unit
    )
    WHERE (d > 0 OR conflicting) AND {condition}
)
GROUP BY unit_arm, day, conflicting"""


# Products that are summed over units, named by their factors as in `ClusterSums`.
_COUNT_PRODUCTS = ("d", "dd", "e", "ee", "de", "ddd")
_PRODUCTS = ("y", "yy", "yd", "x", "xx", "xe", "yx", "ye", "dx", "yyy", "yyd", "ydd")


def _sum_of(product: str, number: int | None = None) -> str:
    """SQL for the sum of a product; y and x belong to the metric with this number."""
    suffix = "" if number is None else str(number)
    factors = (f"{f}{suffix}" if f in "xy" else f"toFloat64({f})" for f in product)
    return f"sum({' * '.join(factors)}) AS sum_{product}{suffix}"


def _read_sums(row: Mapping[str, Any], number: int) -> ClusterSums:
    shared = {name: row[f"sum_{name}"] for name in _COUNT_PRODUCTS}
    own = {name: row[f"sum_{name}{number}"] for name in _PRODUCTS}
    return ClusterSums(units=row["units"], history=row["history"], **shared, **own)
