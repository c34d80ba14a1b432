"""Assignment follows the weights, is stable and independent between experiments."""

from collections import Counter

import pytest

from spanwise.analysis.assignment import choose_variant, hash_to_unit_interval, is_in_traffic

UNITS = [f"user-{number}" for number in range(20_000)]


@pytest.mark.parametrize(
    ("salt", "purpose", "unit", "expected"),
    [
        ("exp_a", "variant", "user-1", 0.9612422816),
        ("exp_a", "traffic", "user-1", 0.5437997292),
        ("exp_b", "variant", "user-1", 0.7549633550),
        ("exp_a", "variant", "ünit ☃", 0.7297122656),
    ],
)
def test_published_vectors_never_move(salt: str, purpose: str, unit: str, expected: float) -> None:
    assert hash_to_unit_interval(salt, purpose, unit) == pytest.approx(expected, abs=1e-9)


def test_units_are_distributed_by_weight() -> None:
    counts = Counter(choose_variant("exp_a", unit, [50, 30, 20]) for unit in UNITS)
    assert counts[0] / len(UNITS) == pytest.approx(0.5, abs=0.015)
    assert counts[1] / len(UNITS) == pytest.approx(0.3, abs=0.015)
    assert counts[2] / len(UNITS) == pytest.approx(0.2, abs=0.015)


def test_a_variant_without_weight_gets_no_units() -> None:
    chosen = {choose_variant("exp_a", unit, [0, 1, 0, 1, 0]) for unit in UNITS}
    assert chosen == {1, 3}


def test_experiments_are_independent_of_each_other() -> None:
    both = Counter(
        (choose_variant("exp_a", unit, [1, 1]), choose_variant("exp_b", unit, [1, 1]))
        for unit in UNITS
    )
    assert all(count / len(UNITS) == pytest.approx(0.25, abs=0.015) for count in both.values())


def test_traffic_and_variant_are_independent() -> None:
    inside = [unit for unit in UNITS if is_in_traffic("exp_a", unit, 20)]
    share = sum(choose_variant("exp_a", unit, [1, 1]) for unit in inside) / len(inside)
    assert len(inside) / len(UNITS) == pytest.approx(0.2, abs=0.015)
    assert share == pytest.approx(0.5, abs=0.03)


def test_more_traffic_keeps_all_included_units() -> None:
    at_10 = {unit for unit in UNITS if is_in_traffic("exp_a", unit, 10)}
    at_60 = {unit for unit in UNITS if is_in_traffic("exp_a", unit, 60)}
    assert at_10 < at_60


def test_zero_percent_includes_no_unit_and_hundred_percent_all() -> None:
    assert not any(is_in_traffic("exp_a", unit, 0) for unit in UNITS)
    assert all(is_in_traffic("exp_a", unit, 100) for unit in UNITS)
