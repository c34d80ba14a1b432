"""Assigns variants to units, and records the first exposure of each unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from spanwise.analysis.assignment import choose_variant, is_in_traffic
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.ingest.records.record import Record
from spanwise.ingest.records.rows import encode_exposures
from spanwise.model.accounts import Sender
from spanwise.model.api_model import utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.experiments.definition import Assignment, Experiment, ExperimentStatus
from spanwise.model.freshness import Freshness
from spanwise.services.ttl_cache import TtlCache
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import experiments as stored
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.experiments.exposures import find_first_exposures

# Changes by other processes take effect within this time.
CACHE_SECONDS = 2.0
MAX_UNIT_ID = 512
_MAX_RECENT_UNITS = 100_000


@dataclass(slots=True)
class _CachedLookup:
    """The cached result of a lookup; None means that there is no such experiment."""

    experiment: Experiment | None


class ExperimentCache:
    """Short-lived cache of experiments by id and name; changes in this process invalidate it."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lookups = TtlCache[tuple[str, str], _CachedLookup]()

    async def find(self, workspace: str, key: str) -> Experiment | None:
        """Return the experiment with this id or name."""
        lookup = self._lookups.get((workspace, key))
        if lookup is None:
            load = self._lookups.start_load((workspace, key))
            async with self._catalog.read() as tx:
                lookup = _CachedLookup(await stored.find_experiment_by_key(tx, workspace, key))
            self._lookups.put((workspace, key), lookup, load, CACHE_SECONDS)
        return lookup.experiment

    async def list_started(self, workspace: str, limit: int) -> list[Experiment]:
        async with self._catalog.read() as tx:
            return await stored.list_started_experiments(tx, workspace, limit)

    def invalidate(self, workspace: str) -> None:
        self._lookups.invalidate(lambda key, _: key[0] == workspace)


@dataclass(slots=True)
class Exposure:
    """First exposures of units, with the journal record that stores them."""

    experiment_id: str
    unit_ids: Sequence[str]
    at: datetime
    record: Record


class _RecentExposures:
    """Times of the first exposures that this process stored most recently.

    They are already in the journal, so repeated assignments of these units need no write.
    """

    def __init__(self) -> None:
        self._recent: dict[tuple[str, str], datetime] = {}
        self._older: dict[tuple[str, str], datetime] = {}

    def get(self, experiment_id: str, unit_id: str) -> datetime | None:
        key = (experiment_id, unit_id)
        return self._recent.get(key) or self._older.get(key)

    def put(self, exposure: Exposure) -> None:
        for unit_id in exposure.unit_ids:
            if len(self._recent) >= _MAX_RECENT_UNITS:
                self._older, self._recent = self._recent, {}
            self._recent[exposure.experiment_id, unit_id] = exposure.at


class Assignments:
    """Assigns units by hash. The first exposure of a unit is stored before it is returned."""

    def __init__(self, cache: ExperimentCache, pipeline: Pipeline, engine: Engine) -> None:
        self._cache = cache
        self._pipeline = pipeline
        self._engine = engine
        self._recent_exposures = _RecentExposures()

    async def assign(self, sender: Sender, key: str, unit_id: str) -> Assignment:
        experiment = await self._find(sender.workspace, key)
        [assignment] = await self.assign_in(sender, experiment, [unit_id])
        return assignment

    async def assign_many(
        self, sender: Sender, key: str, unit_ids: Sequence[str]
    ) -> list[Assignment]:
        return await self.assign_in(sender, await self._find(sender.workspace, key), unit_ids)

    async def _find(self, workspace: str, key: str) -> Experiment:
        experiment = await self._cache.find(workspace, key)
        if experiment is None:
            raise NotFound("experiment not found")
        return experiment

    async def assign_in(
        self, sender: Sender, experiment: Experiment, unit_ids: Sequence[str]
    ) -> list[Assignment]:
        now = utc_now()
        match experiment.status:
            case ExperimentStatus.DRAFT:
                raise Invalid.field("status", "the experiment is a draft; start it first")
            case ExperimentStatus.RUNNING:
                assignments, exposure = self._assign_running(sender.workspace, experiment, unit_ids)
                if exposure is not None:
                    await self._pipeline.submit(sender, [exposure.record])
                    self._recent_exposures.put(exposure)
                return assignments
            case ExperimentStatus.PAUSED:
                return await self._assign_paused(sender.workspace, experiment, unit_ids, now)
            case ExperimentStatus.STOPPED:
                keys = [variant.key for variant in experiment.variants]
                final = keys.index(experiment.winner) if experiment.winner else 0
                return [
                    _to_assignment(experiment, unit_id, final, now, in_experiment=False)
                    for unit_id in unit_ids
                ]

    def _assign_running(
        self, workspace: str, experiment: Experiment, unit_ids: Sequence[str]
    ) -> tuple[list[Assignment], Exposure | None]:
        """Choose variants. The returned exposure must be stored before the assignments are sent."""
        now = utc_now()
        assignments: list[Assignment] = []
        new: dict[str, int] = {}
        for unit_id in unit_ids:
            if not is_in_traffic(experiment.id, unit_id, experiment.traffic_percent):
                assignments.append(_to_assignment(experiment, unit_id, 0, now, in_experiment=False))
                continue
            variant = _choose(experiment, unit_id)
            earlier = self._recent_exposures.get(experiment.id, unit_id)
            if earlier is None:
                new[unit_id] = variant
            assignments.append(
                _to_assignment(experiment, unit_id, variant, earlier or now, in_experiment=True)
            )
        if not new:
            return assignments, None
        record = encode_exposures(workspace, experiment.id, now, new.items())
        return assignments, Exposure(experiment.id, list(new), now, record)

    async def _assign_paused(
        self,
        workspace: str,
        experiment: Experiment,
        unit_ids: Sequence[str],
        now: datetime,
    ) -> list[Assignment]:
        """Return the variant of units already exposed; others get the control."""
        await self._pipeline.wait_until_visible(Freshness(workspace))
        exposed = await find_first_exposures(self._engine, workspace, experiment.id, unit_ids)
        return [
            _to_assignment(experiment, unit_id, _choose(experiment, unit_id), exposed[unit_id])
            if unit_id in exposed
            else _to_assignment(experiment, unit_id, 0, now, in_experiment=False)
            for unit_id in unit_ids
        ]


def _choose(experiment: Experiment, unit_id: str) -> int:
    weights = [variant.weight for variant in experiment.variants]
    return choose_variant(experiment.id, unit_id, weights)


def _to_assignment(
    experiment: Experiment,
    unit_id: str,
    variant_index: int,
    at: datetime,
    *,
    in_experiment: bool = True,
) -> Assignment:
    variant = experiment.variants[variant_index]
    return Assignment(
        experiment_id=experiment.id,
        unit_id=unit_id,
        variant=variant.key,
        config=variant.config,
        in_experiment=in_experiment,
        assigned_at=at,
    )
