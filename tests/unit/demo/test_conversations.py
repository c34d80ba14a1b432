"""Generated conversations are deterministic and show the incidents of the timeline."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanwise.demo.conversations import Conversation, Turn
from spanwise.demo.experiments import plan_experiments
from spanwise.demo.fleet import FLEET, AgentProfile
from spanwise.demo.timeline import FLIGHTS_AGENT, INCIDENT_AGENT, LAYOUT_AGENT, Timeline

TIMELINE = Timeline.ending(datetime(2026, 11, 15, 12, tzinfo=UTC))
EXPERIMENTS = plan_experiments(TIMELINE, Random(1))
AGENTS = {agent.name: agent for agent in FLEET}


def play(agent: AgentProfile, at: datetime, count: int = 80) -> list[Turn]:
    rng = Random(5)
    return [
        turn
        for _ in range(count)
        for turn in Conversation(agent, at, TIMELINE, EXPERIMENTS, rng).turns()
    ]


def root_of(turn: Turn) -> Span:
    [root] = [span for span in turn.spans if not span.parent_span_id]
    return root


def error_rate(turns: list[Turn]) -> float:
    failed = [t for t in turns if root_of(t).status.code == Status.STATUS_CODE_ERROR]
    return len(failed) / len(turns)


def seconds(turn: Turn) -> float:
    root = root_of(turn)
    return (root.end_time_unix_nano - root.start_time_unix_nano) / 1e9


def test_the_same_seed_generates_the_same_conversation() -> None:
    first, second = (play(FLEET[0], TIMELINE.start, 3) for _ in range(2))
    assert [t.spans for t in first] == [t.spans for t in second]
    assert [t.signals for t in first] == [t.signals for t in second]


@pytest.mark.parametrize("agent", FLEET, ids=lambda agent: agent.name)
def test_spans_form_one_tree_within_their_root(agent: AgentProfile) -> None:
    for turn in play(agent, TIMELINE.start + timedelta(days=3), 40):
        root, ids = root_of(turn), {span.span_id for span in turn.spans}
        assert len(ids) == len(turn.spans) > 1
        for span in turn.spans:
            assert not span.parent_span_id or span.parent_span_id in ids
            assert root.start_time_unix_nano <= span.start_time_unix_nano
            assert span.start_time_unix_nano < span.end_time_unix_nano <= root.end_time_unix_nano


@pytest.mark.parametrize("agent", FLEET, ids=lambda agent: agent.name)
def test_no_slot_stays_unfilled(agent: AgentProfile) -> None:
    texts = "".join(str(turn.spans) for turn in play(agent, TIMELINE.start, 30))
    for slot in ("{order}", "{name}", "{city}", "{pull}", "{vendor}", "{market}"):
        assert slot not in texts


def test_most_turns_succeed_on_a_normal_day() -> None:
    for agent in FLEET:
        assert error_rate(play(agent, TIMELINE.start + timedelta(days=3))) < 0.1, agent.name


@pytest.mark.parametrize(
    ("agent", "at"),
    [(INCIDENT_AGENT, TIMELINE.incident_start), (FLIGHTS_AGENT, TIMELINE.flights_down_since)],
)
def test_incidents_raise_the_error_rate(agent: str, at: datetime) -> None:
    before = error_rate(play(AGENTS[agent], at - timedelta(days=1)))
    assert error_rate(play(AGENTS[agent], at + timedelta(minutes=5))) > before + 0.1


def test_the_incident_is_slow_too() -> None:
    agent = AGENTS[INCIDENT_AGENT]
    usual = median(seconds, play(agent, TIMELINE.incident_start - timedelta(days=1)))
    assert median(seconds, play(agent, TIMELINE.incident_start)) > 1.5 * usual


def test_a_changed_layout_lowers_the_ratings() -> None:
    def accuracy(turn: Turn) -> float:
        return turn.signals[0].value

    agent = AGENTS[LAYOUT_AGENT]
    assert median(accuracy, play(agent, TIMELINE.layout_changed_at - timedelta(days=1))) > 0.93
    assert median(accuracy, play(agent, TIMELINE.layout_changed_at)) < 0.88


def median(measure: Callable[[Turn], float], turns: list[Turn]) -> float:
    values = sorted(measure(turn) for turn in turns)
    return values[len(values) // 2]
