"""What all rows of a comparison have: measures as well as contributors."""

from typing import Any

from spanwise.analysis.changes import Compared, compare_arms
from spanwise.analysis.comparison import ALPHA, Arm, Interval
from spanwise.model.dashboards.changes import Preferred
from spanwise.model.experiments.results import Bounds


def compare_effective(
    baseline: Arm, candidate: Arm, preferred: Preferred, alpha: float = ALPHA
) -> Compared:
    """Compare arms whose units are independent observations."""
    observations = baseline.units, candidate.units
    return compare_arms(baseline, candidate, preferred, observations=observations, alpha=alpha)


def change_fields(
    name: str, preferred: Preferred, compared: Compared, samples: tuple[int, int]
) -> dict[str, Any]:
    def bounds(interval: Interval | None) -> Bounds | None:
        return Bounds(lower=interval.lower, upper=interval.upper) if interval else None

    return {
        "measure": name,
        "preferred": preferred,
        "baseline": compared.baseline,
        "candidate": compared.candidate,
        "difference": compared.difference,
        "interval": bounds(compared.interval),
        "relative_difference": compared.relative_difference,
        "relative_interval": bounds(compared.relative_interval),
        "verdict": compared.verdict,
        "baseline_samples": samples[0],
        "candidate_samples": samples[1],
        "baseline_observations": compared.observations[0],
        "candidate_observations": compared.observations[1],
    }
