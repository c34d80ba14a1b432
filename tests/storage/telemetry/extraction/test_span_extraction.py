"""The extraction SQL generated from the convention table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from spanwise.model.telemetry.attribute_values import ERROR_RULES, KINDS, PROVIDERS
from spanwise.model.telemetry.conventions import FIELDS
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.extraction.span_extraction import classify_error, spans_select
from support.service import shared_telemetry_url

SNAPSHOT = Path(__file__).with_name("spans_select.sql")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    folder = Path(shared_telemetry_url().removeprefix("chdb://"))
    opened = Engine.open(EngineAddress(folder=folder), 2048)
    yield opened
    opened.close()


async def classify(engine: Engine, errors: Sequence[tuple[str, str]]) -> list[str]:
    """Return the types of errors, given as names and message, as the engine computes them."""
    text = "concat(error.1, ' ', '\\n', error.2)"
    rows = await engine.fetch(
        f"""SELECT {classify_error(text)} AS error_type FROM (
            SELECT arrayJoin(arrayZip({{names:Array(String)}}, {{messages:Array(String)}})) AS error
        )""",
        {"names": [names for names, _ in errors], "messages": [text for _, text in errors]},
    )
    return [str(row["error_type"]) for row in rows]


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


async def test_every_error_rule_matches_its_examples(engine: Engine) -> None:
    expected = [(rule.error_type, example) for rule in ERROR_RULES for example in rule.examples]
    found = await classify(engine, [(example, "") for _, example in expected])
    assert list(zip(found, (example for _, example in expected), strict=True)) == expected


CLASSIFIED = {
    ("Exception", "Error code: 429 - Rate limit reached"): "rate_limit",
    ("APIError", "Request timed out"): "timeout",
    ("ValueError", "rate limit must be positive"): "validation",
    ("APIError", "invalid schema"): "api_error",
    ("Exception", "invalid schema"): "validation",
    ("Exception", "connection\nrefused by the server"): "api_error",
    ("Exception", "the cat sat on the keyboard"): "other",
    ("_OTHER", ""): "other",
    ("", ""): "other",
    ("other", "429 rate limit"): "other",
    ("api_error", "rate limit"): "api_error",
    ("ZeroDivisionError", "division of 4290 by zero"): "other",
}


async def test_an_error_is_classified_by_its_name_then_its_message(engine: Engine) -> None:
    found = await classify(engine, list(CLASSIFIED))
    assert dict(zip(CLASSIFIED, found, strict=True)) == CLASSIFIED
