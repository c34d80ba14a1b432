"""What explains a difference comes first, and what only moved explains nothing."""

from typing import Any

import pytest

from spanwise.analysis.change_contributors import explain, rank
from spanwise.model.dashboards.changes import Change, ChangeVerdict, Contributor, Preferred
from spanwise.model.experiments.results import Bounds

WORSE, BETTER, UNCLEAR = ChangeVerdict.WORSE, ChangeVerdict.BETTER, ChangeVerdict.UNCLEAR


def fields(measure: str, baseline: float, candidate: float, verdict: ChangeVerdict) -> Any:
    gap = candidate - baseline
    return {
        "measure": measure,
        "preferred": Preferred.LOWER,
        "baseline": baseline,
        "candidate": candidate,
        "difference": gap,
        "interval": Bounds(lower=gap - 1, upper=gap + 1),
        "relative_difference": gap / baseline if baseline else None,
        "relative_interval": None,
        "verdict": verdict,
        **dict.fromkeys(("baseline_samples", "candidate_samples"), 100),
        **dict.fromkeys(("baseline_observations", "candidate_observations"), 100),
    }


def change(measure: str, baseline: float, candidate: float, verdict: ChangeVerdict) -> Change:
    return Change(**fields(measure, baseline, candidate, verdict))


def part(
    value: str, baseline: float, candidate: float, verdict: ChangeVerdict, **more: Any
) -> Contributor:
    named = {"dimension": "tool", "measure": "timePerTrace", **more}
    measured = fields(named.pop("measure"), baseline, candidate, verdict)
    return Contributor(value=value, **named, **measured)


SLOWER = [change("avgLatency", 1000, 1500, WORSE)]


def ranked(contributors: list[Contributor], measures: list[Change]) -> list[tuple[str, Any]]:
    explained = explain(contributors, measures)
    return [(one.value, one.explained) for one in rank(explained, measures)]


def test_the_part_that_took_the_time_comes_first() -> None:
    found = ranked(
        [part("fetch", 100, 110, WORSE), part("run", 300, 750, WORSE), part("grep", 9, 9, UNCLEAR)],
        SLOWER,
    )
    assert found == [("run", pytest.approx(0.9)), ("fetch", None), ("grep", None)]


def test_work_that_moved_to_another_model_explains_nothing() -> None:
    models = [
        part("new", 0, 900, WORSE, dimension="model"),
        part("old", 950, 0, BETTER, dimension="model"),
    ]
    found = ranked([*models, part("run", 300, 650, WORSE)], SLOWER)
    assert found == [("run", pytest.approx(0.7)), ("new", None), ("old", None)]
    # A slower model explains what both together take longer.
    models[1] = part("old", 600, 0, BETTER, dimension="model")
    assert ranked(models, SLOWER)[0] == ("new", pytest.approx(0.6))


def test_a_step_comes_after_the_tools_it_calls() -> None:
    step = part("review", 500, 1000, WORSE, dimension="step")
    found = ranked([step, part("run", 300, 750, WORSE)], SLOWER)
    assert [value for value, _ in found] == ["run", "review"]
    # No tool explains half: the step does itself.
    found = ranked([step, part("run", 300, 450, WORSE)], SLOWER)
    assert [value for value, _ in found] == ["review", "run"]


def test_what_got_worse_comes_before_what_got_better() -> None:
    measures = [change("costPerTrace", 1.0, 0.1, BETTER), change("avgLatency", 1000, 1500, WORSE)]
    cheaper = part("zz-small", 0.95, 0.1, BETTER, dimension="model", measure="costPerTrace")
    found = ranked([cheaper, part("run", 300, 750, WORSE)], measures)
    assert [value for value, _ in found] == ["run", "zz-small"]
    assert found[1][1] == pytest.approx(0.85 / 0.9)


@pytest.mark.parametrize(
    "measures",
    [
        [change("avgLatency", 1000, 1500, UNCLEAR)],
        [change("avgLatency", 1000, 600, BETTER)],
        [change("errorRate", 0.1, 0.2, WORSE)],
    ],
)
def test_nothing_explains_what_did_not_change(measures: list[Change]) -> None:
    assert ranked([part("run", 300, 750, WORSE)], measures) == [("run", None)]


def test_a_percentile_may_be_what_changed() -> None:
    measures = [change("avgLatency", 1000, 1500, UNCLEAR), change("p95", 4000, 9000, WORSE)]
    assert ranked([part("run", 300, 750, WORSE)], measures) == [("run", pytest.approx(0.9))]


def test_chance_explains_nothing() -> None:
    assert ranked([part("run", 300, 750, UNCLEAR)], SLOWER) == [("run", None)]
