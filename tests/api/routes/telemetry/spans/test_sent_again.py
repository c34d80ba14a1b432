"""Each span counts once, however it is resent, split, delayed, repriced or replayed."""

import random
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from spanwise.model.errors import Unavailable
from spanwise.storage.telemetry.write.writer import Batch, TelemetryWriter
from support.ledger import Ledger, read_details, read_trace
from support.polling import until
from support.service import Person, Service, start_service

OWN_MODEL, LIST_MODEL, UNKNOWN_MODEL = "acme/priced", "gpt-4o", "acme/unknown"
LIST_INPUT_DOLLARS = 2.5
DAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=3)


# --- random plans -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Send:
    """One request with these spans; `update` sends them with another outcome than before."""

    places: tuple[int, ...]
    update: bool = False


@dataclass(frozen=True)
class Reprice:
    dollars: float


@dataclass(frozen=True)
class Restart:
    """Restart the service. `unapplied` spans are acknowledged while the engine rejects writes, so
    they are only in the journal; `replayed` replays the records of the journal a second time."""

    unapplied: tuple[int, ...] = ()
    replayed: bool = False


@dataclass(frozen=True)
class Plan:
    spans: tuple[dict[str, Any], ...]
    steps: tuple[Send | Reprice | Restart, ...]


def make_plan(dice: random.Random) -> Plan:
    """Return a plan with every kind of step, in any order."""
    spans: list[dict[str, Any]] = []
    for trace in range(dice.randint(2, 4)):
        size = dice.randint(1, 6)
        # Hours apart, so that a trace may cross midnight or the end of a month.
        spans += [
            _make_span(
                dice,
                trace,
                place,
                dice.randint(-1, place - 1) if place else -1,
                dice.randint(0, 80),
            )
            for place in range(size)
        ]

    def some() -> tuple[int, ...]:
        return tuple(dice.randrange(len(spans)) for _ in range(dice.randint(1, 8)))

    steps: list[Send | Reprice | Restart] = [
        Send(some()),
        Send(some(), update=True),
        Reprice(dice.choice((1.0, 3.0, 7.0))),
        Restart(some(), replayed=dice.random() < 0.5),
        Restart(replayed=True),
    ]
    dice.shuffle(steps)
    # In the end everything has been sent, in any order.
    rest = dice.sample(range(len(spans)), len(spans))
    cut = dice.randint(0, len(rest))
    return Plan(tuple(spans), (*steps, Send(tuple(rest[:cut])), Send(tuple(rest[cut:]))))


def _make_span(
    dice: random.Random, trace: int, place: int, parent: int, hour: int
) -> dict[str, Any]:
    # A microsecond apart from all others, so that the earliest root is unambiguous.
    start = DAY + timedelta(hours=hour, microseconds=trace * 100 + place)
    kind = dice.choice(("llm", "agent", "tool", "chain"))
    span: dict[str, Any] = {
        # Some ids end in zero bytes.
        "traceId": f"{trace + 1:016x}{trace % 2:016x}",
        "spanId": f"{trace * 100 + place + 1:016x}",
        "parentSpanId": None if parent < 0 else f"{trace * 100 + parent + 1:016x}",
        "name": f"{kind} {place}",
        "kind": kind,
        "status": dice.choice(("ok", "error", "unset")),
        "startTime": start.isoformat(),
        "endTime": (start + timedelta(milliseconds=dice.randint(0, 9000))).isoformat(),
    }
    if kind in {"llm", "agent"}:
        span["model"] = dice.choice((OWN_MODEL, LIST_MODEL, UNKNOWN_MODEL))
        span["provider"] = "openai"
        # Rarely nothing, and often the same, as when a call is reported twice.
        span["inputTokens"] = dice.choice((0, 500, 500, dice.randint(1, 10_000)))
    if kind == "tool":
        span["toolName"] = dice.choice(("search", "fetch"))
    if kind == "llm" and dice.random() < 0.5:
        span["cost"] = dice.choice((0.25, 4.0))
    return span


# --- running a plan against the service and the ledger ------------------------------------------


class Scenario:
    """Applies the same steps to a service and a ledger."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.ledger = Ledger(prices={LIST_MODEL: LIST_INPUT_DOLLARS})
        self.updates = 0
        self.stack = AsyncExitStack()
        self.service: Service
        self.person: Person

    async def run(self) -> None:
        self.service = await self.stack.enter_async_context(start_service(self.folder))
        try:
            self.person = await self.service.sign_up("ann@example.com")
            for step in self.plan.steps:
                match step:
                    case Send():
                        await self.send([self.next_version(p, step.update) for p in step.places])
                    case Reprice():
                        await self.reprice(step.dollars)
                    case Restart():
                        await self.restart(step)
                await self.check()
        finally:
            # A restart replaces the stack.
            await self.stack.aclose()

    def next_version(self, place: int, update: bool = False) -> dict[str, Any]:
        """Return a span as it was last sent, or with a new outcome."""
        span = self.plan.spans[place]
        span = self.ledger.spans.get((span["traceId"], span["spanId"]), span)
        if not update:
            return span
        self.updates += 1
        start = datetime.fromisoformat(span["startTime"])
        end = start + timedelta(milliseconds=self.updates)
        return {**span, "status": "error", "name": f"again {place}", "endTime": end.isoformat()}

    async def send(self, spans: list[dict[str, Any]]) -> None:
        # A span that occurs twice in one request is the same both times.
        latest = {(span["traceId"], span["spanId"]): span for span in spans}
        spans = [latest[span["traceId"], span["spanId"]] for span in spans]
        if spans:
            await self.person.data("POST", "/spans", json={"spans": spans})
        self.ledger.take(spans)

    async def reprice(self, dollars: float) -> None:
        body = {"model": OWN_MODEL, "inputPerMillion": dollars, "outputPerMillion": 0}
        await self.person.data("PUT", "/models/prices", json=body)
        self.ledger.prices[OWN_MODEL] = dollars

        async def is_done() -> bool:
            (task,) = await self.person.data("GET", "/models/repricing")
            return bool(task["state"] == "done")

        await until(is_done, 30)

    async def restart(self, step: Restart) -> None:
        with pytest.MonkeyPatch.context() as patch:
            if step.unapplied:
                patch.setattr(TelemetryWriter, "insert", _refuse)
                await self.send([self.next_version(place) for place in step.unapplied])
            journal = {
                path.name: path.read_bytes() for path in (self.folder / "journal").glob("*.journal")
            }
            await self.stack.aclose()
        if step.replayed:
            for name, data in journal.items():
                (self.folder / "journal" / name).write_bytes(data)
        self.stack = AsyncExitStack()
        self.service = await self.stack.enter_async_context(start_service(self.folder))
        self.person = await self.service.log_in("ann@example.com")

    async def check(self) -> None:
        answer = await self.person.call("GET", "/spans/traces", params={"limit": 100})
        expected = self.ledger.traces()
        listed = sorted((read_trace(r) for r in answer.json()["data"]), key=lambda r: r["traceId"])
        assert listed == expected
        assert answer.json()["pagination"]["total"] == len(expected)
        for trace_id in self.ledger.trace_ids():
            trace = await self.person.data("GET", f"/spans/traces/{trace_id}")
            assert read_details(trace) == self.ledger.details(trace_id)
        await self.check_stored()

    async def check_stored(self) -> None:
        """Check that the spans table has each span once, because aggregates read it."""
        workspace = self.person.user["defaultWorkspaceId"]
        rows = await self.service.services.engine.fetch(
            """SELECT lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span,
            intDiv(duration_ns, 1000000) AS ms, input_tokens
            FROM spans FINAL WHERE workspace = {workspace:String}""",
            {"workspace": workspace},
        )
        stored = sorted((r["trace"], r["span"], r["ms"], r["input_tokens"]) for r in rows)
        assert stored == sorted(
            (
                *key,
                round(
                    (
                        datetime.fromisoformat(span["endTime"])
                        - datetime.fromisoformat(span["startTime"])
                    ).total_seconds()
                    * 1000
                ),
                span.get("inputTokens", 0),
            )
            for key, span in self.ledger.spans.items()
        )


def _refuse(_writer: TelemetryWriter, _batch: Batch) -> None:
    raise Unavailable("the engine takes nothing at the moment")


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))]
)
async def test_every_span_counts_once_whatever_happens(seed: int, tmp_path: Path) -> None:
    await Scenario(make_plan(random.Random(seed)), tmp_path).run()
