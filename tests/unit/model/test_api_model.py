"""The base class of API models, and ids."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from spanwise.model.api_model import ApiModel, UtcTime, new_id


class Sample(ApiModel):
    first_seen_at: UtcTime
    share: float = 0.5


def test_names_are_camel_case_on_the_wire_and_times_end_in_z() -> None:
    sample = Sample(first_seen_at=datetime(2026, 1, 31, 13, tzinfo=timezone(timedelta(hours=1))))
    assert sample.model_dump_json() == '{"firstSeenAt":"2026-01-31T12:00:00Z","share":0.5}'


def test_a_record_is_frozen() -> None:
    sample = Sample(first_seen_at=datetime(2026, 1, 31, tzinfo=UTC))
    with pytest.raises(ValidationError, match="frozen"):
        sample.share = 1.0  # type: ignore[misc]


def test_a_record_rejects_infinite_numbers() -> None:
    with pytest.raises(ValidationError, match="finite"):
        Sample(first_seen_at=datetime(2026, 1, 31, tzinfo=UTC), share=float("inf"))


def test_an_id_has_its_prefix_and_no_two_are_the_same() -> None:
    ids = {new_id("key") for _ in range(1000)}
    assert len(ids) == 1000
    assert all(made.startswith("key_") and made == made.lower() for made in ids)
