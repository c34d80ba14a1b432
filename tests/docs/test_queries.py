"""The examples of docs/queries.md: each query has the answer that follows it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.service import Person, Service

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "queries.md"


def read_examples() -> list[Any]:
    return [
        json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    ]


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    """A person who has sent the page's spans."""
    person = await shared_service.sign_up()
    spans, *_ = read_examples()
    await person.data("POST", "/spans", json=spans)
    return person


async def test_every_query_has_the_answer_that_follows_it(ada: Person) -> None:
    _, *examples = read_examples()
    pairs = list(zip(examples[::2], examples[1::2], strict=True))
    assert len(pairs) >= 4
    for query, answer in pairs:
        assert await ada.data("POST", "/analytics/query", json=query) == answer, query


async def test_the_filter_in_the_command_works(ada: Person) -> None:
    text, of_spans = re.findall(r"'filters=(.*?)'", PAGE.read_text())
    found = await ada.data("GET", "/spans/traces", params={"filters": text})
    assert [trace["userId"] for trace in found] == ["bob", "ada"]
    listed = await ada.data("GET", "/spans", params={"filters": of_spans})
    assert listed
    assert {span["kind"] for span in listed} == {"llm"}


@pytest.mark.parametrize("schema", ["View", "Panel"])
def test_the_page_names_the_fields_of_what_is_kept(schema: str) -> None:
    document = json.loads((ROOT / "web" / "openapi.json").read_text())
    fields = document["components"]["schemas"][schema]["properties"]
    own = fields.keys() - {"id", "ownerId", "createdAt", "updatedAt"}
    assert all(name in PAGE.read_text() for name in own)
