"""Which variant a unit gets, and the exposure that is written down when it gets it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from spanwise.analysis.assignment import choose_variant, is_in_traffic
from spanwise.ingest.commit.journal import Record
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.ingest.commit.queue import CommitCallback
from spanwise.ingest.exposures import prepare_exposures
from spanwise.model.errors import Invalid, NotFound, Unavailable
from spanwise.model.experiments.definition import Assignment, Experiment, ExperimentStatus
from spanwise.model.freshness import LATEST, Freshness
from spanwise.model.record import utc_now
from spanwise.services.ttl_cache import RecentlySeen
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import experiments as stored
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.experiments.exposures import find_first_exposures

# A change made by another process is seen after this long at the latest.
CACHE_SECONDS = 2.0
MAX_UNIT_ID = 512
_REMEMBERED_UNITS = 100_000


@dataclass(slots=True)
class Known:
    """What is known of an experiment, which may be that there is none."""

    experiment: Experiment | None


class Definitions:
    """Experiments as read in the last seconds; forgotten at once when changed in this process."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known = RecentlySeen[tuple[str, str], Known]()

    def recall(self, workspace: str, key: str) -> Known | None:
        """Return what was read in the last seconds."""
        return self._known.get((workspace, key))

    async def find(self, workspace: str, key: str) -> Experiment | None:
        """Return the experiment with this id or name."""
        known = self.recall(workspace, key)
        if known is None:
            reading = self._known.begin_read((workspace, key))
            async with self._catalog.read() as tx:
                known = Known(await stored.find_experiment_by_key(tx, workspace, key))
            self._known.put((workspace, key), known, reading, CACHE_SECONDS)
        return known.experiment

    async def list_started(self, workspace: str, limit: int) -> list[Experiment]:
        async with self._catalog.read() as tx:
            return await stored.list_started_experiments(tx, workspace, limit)

    def forget(self, workspace: str) -> None:
        self._known.forget(lambda key, _: key[0] == workspace)


@dataclass(slots=True)
class Exposure:
    """Units that are given a variant for the first time, which is to be written down."""

    experiment_id: str
    unit_ids: Sequence[str]
    at: datetime
    record: Record


class _Remembered:
    """When units were assigned by this process, for the latest of them.

    What is in here is on disk already, so a unit that asks again costs no write.
    """

    def __init__(self) -> None:
        self._recent: dict[tuple[str, str], datetime] = {}
        self._older: dict[tuple[str, str], datetime] = {}

    def get(self, experiment_id: str, unit_id: str) -> datetime | None:
        key = (experiment_id, unit_id)
        return self._recent.get(key) or self._older.get(key)

    def put(self, exposure: Exposure) -> None:
        for unit_id in exposure.unit_ids:
            if len(self._recent) >= _REMEMBERED_UNITS:
                self._older, self._recent = self._recent, {}
            self._recent[exposure.experiment_id, unit_id] = exposure.at


class Assignments:
    """Assigns units. A hash decides; the first assignment of a unit is stored before it is told."""

    def __init__(self, definitions: Definitions, pipeline: Pipeline, engine: Engine) -> None:
        self._definitions = definitions
        self._pipeline = pipeline
        self._engine = engine
        self._remembered = _Remembered()

    async def assign(
        self, workspace: str, key: str, unit_id: str, *, freshness: Freshness = LATEST
    ) -> Assignment:
        experiment = await self._find(workspace, key)
        [assignment] = await self.assign_in(workspace, experiment, [unit_id], freshness=freshness)
        return assignment

    def recall_running(self, workspace: str, key: str) -> Experiment | None:
        """Return the experiment when it runs and was read in the last seconds."""
        known = self._definitions.recall(workspace, key)
        if known is None or known.experiment is None:
            return None
        is_running = known.experiment.status is ExperimentStatus.RUNNING
        return known.experiment if is_running else None

    async def assign_many(
        self, workspace: str, key: str, unit_ids: Sequence[str]
    ) -> list[Assignment]:
        return await self.assign_in(workspace, await self._find(workspace, key), unit_ids)

    async def _find(self, workspace: str, key: str) -> Experiment:
        experiment = await self._definitions.find(workspace, key)
        if experiment is None:
            raise NotFound("no such experiment")
        return experiment

    async def assign_in(
        self,
        workspace: str,
        experiment: Experiment,
        unit_ids: Sequence[str],
        *,
        freshness: Freshness = LATEST,
    ) -> list[Assignment]:
        now = utc_now()
        match experiment.status:
            case ExperimentStatus.DRAFT:
                raise Invalid.field("status", "the experiment is a draft; start it first")
            case ExperimentStatus.RUNNING:
                answers, exposure = self.choose(workspace, experiment, unit_ids)
                if exposure is not None:
                    await self._pipeline.submit([exposure.record])
                    self._remembered.put(exposure)
                return answers
            case ExperimentStatus.PAUSED:
                return await self._keep(workspace, experiment, unit_ids, now, freshness)
            case ExperimentStatus.STOPPED:
                keys = [variant.key for variant in experiment.variants]
                final = keys.index(experiment.winner) if experiment.winner else 0
                return [
                    _answer(experiment, unit_id, final, now, inside=False) for unit_id in unit_ids
                ]

    def choose(
        self, workspace: str, experiment: Experiment, unit_ids: Sequence[str]
    ) -> tuple[list[Assignment], Exposure | None]:
        """Give units their variant. What is new about it must be stored before it is told."""
        now = utc_now()
        answers: list[Assignment] = []
        new: dict[str, int] = {}
        for unit_id in unit_ids:
            if not is_in_traffic(experiment.id, unit_id, experiment.traffic_percent):
                answers.append(_answer(experiment, unit_id, 0, now, inside=False))
                continue
            place = _choose(experiment, unit_id)
            earlier = self._remembered.get(experiment.id, unit_id)
            if earlier is None:
                new[unit_id] = place
            answers.append(_answer(experiment, unit_id, place, earlier or now, inside=True))
        if not new:
            return answers, None
        record = prepare_exposures(workspace, experiment.id, now, new.items())
        return answers, Exposure(experiment.id, list(new), now, record)

    def store(self, exposure: Exposure, on_commit: CommitCallback) -> None:
        """Store an exposure without waiting: `on_commit` is called with the outcome.

        Raises Unavailable at once, with nothing kept, when nothing can be taken.
        """
        self._pipeline.enqueue([exposure.record], partial(self._note_stored, exposure, on_commit))

    def _note_stored(
        self, exposure: Exposure, on_commit: CommitCallback, failure: Unavailable | None
    ) -> None:
        if failure is None:
            self._remembered.put(exposure)
        on_commit(failure)

    async def _keep(
        self,
        workspace: str,
        experiment: Experiment,
        unit_ids: Sequence[str],
        now: datetime,
        freshness: Freshness,
    ) -> list[Assignment]:
        """Let units that are in keep their variant; nobody new gets in."""
        await self._pipeline.wait_until_visible(freshness)
        exposed = await find_first_exposures(self._engine, workspace, experiment.id, unit_ids)
        return [
            _answer(experiment, unit_id, _choose(experiment, unit_id), exposed[unit_id])
            if unit_id in exposed
            else _answer(experiment, unit_id, 0, now, inside=False)
            for unit_id in unit_ids
        ]


def _choose(experiment: Experiment, unit_id: str) -> int:
    weights = [variant.weight for variant in experiment.variants]
    return choose_variant(experiment.id, unit_id, weights)


def _answer(
    experiment: Experiment, unit_id: str, place: int, at: datetime, *, inside: bool = True
) -> Assignment:
    variant = experiment.variants[place]
    return Assignment(
        experiment_id=experiment.id,
        unit_id=unit_id,
        variant=variant.key,
        config=variant.config,
        in_experiment=inside,
        assigned_at=at,
    )
