"""Baselines are robust to outliers, and three of five high scores fire."""

import pytest

from spanwise.analysis.baseline import (
    Baseline,
    History,
    Quantity,
    is_firing,
    wilson_half_width,
)


def learn(reference: list[float], quantity: Quantity, samples: int = 0) -> Baseline | None:
    history = History.summarize(reference)
    return None if history is None else history.baseline(quantity, samples)


def test_the_published_outlier_has_the_published_score() -> None:
    past = [10.0, 12.0, 11.0, 13.0, 12.0, 11.0, 10.0, 12.0, 100.0]
    # The vector has nine points; repeating them keeps median and deviation.
    baseline = learn(past + past, Quantity.AMOUNT)
    assert baseline is not None
    assert baseline.center == 12
    assert baseline.score(100) == pytest.approx(59.356, abs=0.01)


def test_there_is_no_baseline_before_twelve_points() -> None:
    assert learn([5.0] * 11, Quantity.AMOUNT) is None
    assert learn([5.0] * 12, Quantity.AMOUNT) is not None


def test_one_bad_hour_does_not_shift_the_baseline() -> None:
    quiet = learn([100.0 + n % 3 for n in range(40)], Quantity.AMOUNT)
    shaken = learn([100.0 + n % 3 for n in range(39)] + [9000.0], Quantity.AMOUNT)
    assert quiet is not None
    assert shaken is not None
    assert shaken.center == pytest.approx(quiet.center, abs=1)
    assert shaken.scale == pytest.approx(quiet.scale, rel=0.5)


def test_a_flat_past_allows_five_percent() -> None:
    baseline = learn([200.0] * 30, Quantity.AMOUNT)
    assert baseline == Baseline(200.0, 10.0)


def test_counts_may_vary_by_their_root() -> None:
    baseline = learn([4.0] * 30, Quantity.COUNT)
    assert baseline == Baseline(4.0, 2.0)


def test_a_rate_of_few_requests_varies_more() -> None:
    few, many = learn([0.02] * 30, Quantity.RATE, 10), learn([0.02] * 30, Quantity.RATE, 10_000)
    assert few is not None
    assert many is not None
    assert few.score(0.3) < 4 < many.score(0.3)


def test_a_metric_that_was_always_zero_has_no_scale() -> None:
    assert learn([0.0] * 30, Quantity.AMOUNT) is None
    assert learn([0.0] * 30, Quantity.COUNT) is None


def test_three_of_five_fire_and_two_do_not() -> None:
    assert is_firing([0, 5, 0, 5, 5])
    assert not is_firing([5, 0, 0, 5, 0])
    assert not is_firing([9, 9, 9, 0, 0, 0, 0, 0])


def test_buckets_without_data_do_not_count() -> None:
    assert not is_firing([None, None, None, None, None])
    assert is_firing([5, None, 5, 5, None])


def test_the_wilson_interval_narrows_with_samples() -> None:
    assert wilson_half_width(0.1, 0) == 0.5
    assert wilson_half_width(0.1, 100) == pytest.approx(0.0595, abs=0.002)
    assert wilson_half_width(0.1, 10_000) < 0.006


def test_the_edge_of_a_band_has_its_score() -> None:
    baseline = Baseline(100.0, 5.0)
    assert baseline.score(baseline.at(4)) == pytest.approx(4)
