"""The examples of docs/queries.md: each query has the answer that follows it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.service import Service

PAGE = Path(__file__).parents[2] / "docs" / "queries.md"


def read_examples() -> list[Any]:
    return [
        json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    ]


async def test_every_query_has_the_answer_that_follows_it(service: Service) -> None:
    ada = await service.sign_up()
    spans, *examples = read_examples()
    await ada.data("POST", "/spans", json=spans)
    pairs = list(zip(examples[::2], examples[1::2], strict=True))
    assert len(pairs) >= 4
    for query, answer in pairs:
        assert await ada.data("POST", "/analytics/query", json=query) == answer, query


async def test_the_filter_in_the_command_works(service: Service) -> None:
    ada = await service.sign_up()
    spans, *_ = read_examples()
    await ada.data("POST", "/spans", json=spans)
    text, of_spans = re.findall(r"'filters=(.*?)'", PAGE.read_text())
    found = await ada.data("GET", "/spans/traces", params={"filters": text})
    assert [trace["userId"] for trace in found] == ["bob", "ada"]
    listed = await ada.data("GET", "/spans", params={"filters": of_spans})
    assert listed
    assert {span["kind"] for span in listed} == {"llm"}


@pytest.mark.parametrize("noun", ["views", "dashboards"])
async def test_the_page_names_the_fields_of_what_is_kept(service: Service, noun: str) -> None:
    document = (await service.call("GET", "/openapi.json")).json()
    schema = document["components"]["schemas"]["View" if noun == "views" else "Panel"]
    own = schema["properties"].keys() - {"id", "ownerId", "createdAt", "updatedAt"}
    assert all(name in PAGE.read_text() for name in own)
