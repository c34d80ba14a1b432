"""The rollup: whatever has been swept, every answer is that of the traces."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.model.analytics import Question
from spanwise.model.filters import TraceFilter
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.analytics_source import Source, find_source
from spanwise.storage.telemetry.rollup import Rollup
from support.service import Person, Service
from support.spans import child_of, new_span, send

DAY = datetime(2026, 3, 10, 12, tzinfo=UTC)
RANGE = {"startDate": "2026-03-08T06:30:00Z", "endDate": "2026-03-12T18:45:00Z"}


@pytest.fixture
async def ada(service: Service) -> Person:
    return await service.sign_up()


@pytest.fixture
def rollup(service: Service) -> Rollup:
    """One that does not wait for hours to go quiet."""
    eager = Rollup(service.services.engine, quiet_seconds=0)
    service.services.analytics._rollup = eager
    return eager


async def ask(person: Person, path: str, **parameters: Any) -> Any:
    return await person.data("GET", f"/analytics{path}", params={**RANGE, **parameters})


async def test_swept_days_answer_as_before(ada: Person, rollup: Rollup) -> None:
    for hours in range(-80, 80, 7):
        root = new_span(DAY + timedelta(hours=hours), 100 + abs(hours), agentName="planner")
        await send(ada, root, child_of(root, kind="llm", model="m", inputTokens=hours + 100))
    before = await ask(ada, "/metrics"), await ask(ada, "/traces/requests-over-time")
    assert await rollup.sweep() > 0
    after = await ask(ada, "/metrics"), await ask(ada, "/traces/requests-over-time")
    assert after[1] == before[1]
    assert after[0].pop("p95Latency") == pytest.approx(before[0].pop("p95Latency"), rel=0.005)
    assert after[0] == pytest.approx(before[0])
    assert not (await find(rollup, ada.user["id"])).is_exact


async def find(rollup: Rollup, workspace: str) -> Source:
    """What an answer for the range would be read from."""
    period = TimeRange.parse(RANGE["startDate"], RANGE["endDate"])
    question = Question(period.or_last_days(30, DAY), TraceFilter(period))
    return await find_source(rollup._engine, workspace, question, await rollup.swept_until())
