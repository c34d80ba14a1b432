"""The extraction SQL generated from the convention table."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise.model.telemetry.attribute_values import ERROR_RULES, KINDS, PROVIDERS
from spanwise.model.telemetry.conventions import FIELDS
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.spans.extraction import classify_error, spans_select
from support.service import shared_telemetry_url

SNAPSHOT = Path(__file__).with_name("spans_select.sql")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    folder = Path(shared_telemetry_url().removeprefix("chdb://"))
    opened = Engine.open(EngineAddress(folder=folder), 2048)
    yield opened
    opened.close()


async def classify(engine: Engine, names: str, message: str) -> str:
    """Return the error type as the engine computes it."""
    text = "concat({names:String}, ' ', '\\n', {message:String})"
    rows = await engine.fetch(
        f"SELECT {classify_error(text)} AS error_type", {"names": names, "message": message}
    )
    return str(rows[0]["error_type"])


def test_the_generated_sql_matches_the_snapshot() -> None:
    sql = spans_select("landing_spans") + "\n"
    assert sql == SNAPSHOT.read_text(), (
        f"the generated SQL changed; review the difference and update {SNAPSHOT.name}"
    )


def test_an_attribute_means_one_field_only() -> None:
    uses = Counter(name for field in FIELDS for name in field.attributes)
    assert [name for name, times in uses.items() if times > 1] == []


@pytest.mark.parametrize("table", [KINDS, PROVIDERS], ids=["kinds", "providers"])
def test_a_word_has_one_meaning_only(table: dict[str, tuple[str, ...]]) -> None:
    uses = Counter(word for words in table.values() for word in words)
    assert [word for word, times in uses.items() if times > 1] == []
    assert all(word == word.lower() for word in uses)


@pytest.mark.parametrize(
    ("error_type", "example"),
    [(rule.error_type, example) for rule in ERROR_RULES for example in rule.examples],
)
async def test_an_error_rule_matches_its_examples(
    engine: Engine, error_type: str, example: str
) -> None:
    assert await classify(engine, example, "") == error_type


@pytest.mark.parametrize(
    ("names", "message", "error_type"),
    [
        ("Exception", "Error code: 429 - Rate limit reached", "rate_limit"),
        ("APIError", "Request timed out", "timeout"),
        ("ValueError", "rate limit must be positive", "validation"),
        ("APIError", "invalid schema", "api_error"),
        ("Exception", "invalid schema", "validation"),
        ("Exception", "connection\nrefused by the server", "api_error"),
        ("Exception", "the cat sat on the keyboard", "other"),
        ("_OTHER", "", "other"),
        ("", "", "other"),
        ("other", "429 rate limit", "other"),
        ("api_error", "rate limit", "api_error"),
        ("ZeroDivisionError", "division of 4290 by zero", "other"),
    ],
)
async def test_an_error_is_classified_by_its_name_then_its_message(
    engine: Engine, names: str, message: str, error_type: str
) -> None:
    assert await classify(engine, names, message) == error_type
