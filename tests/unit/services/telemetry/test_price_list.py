"""The public price list: its date, and files that replace it."""

import json
import os
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from spanwise.model.errors import Invalid
from spanwise.model.telemetry.prices import NO_RATE, PriceListSource
from spanwise.services.telemetry.price_list import (
    BUILT_IN_DATE,
    BUILT_IN_VERSION,
    PriceList,
    read_price_list,
)


def price_file(path: Path, dollars: float, **model: Any) -> Path:
    models = [
        {
            "id": "next-1",
            "match": {"equals": "next-1"},
            "prices": {"input_mtok": dollars, "output_mtok": 8, "requests_kcount": 5},
            **model,
        }
    ]
    provider = {"id": "acme", "name": "Acme", "api_pattern": "https://acme", "models": models}
    path.write_text(json.dumps([provider]))
    return path


def test_the_date_is_that_of_the_installed_version() -> None:
    assert version("genai-prices") == BUILT_IN_VERSION, "update BUILT_IN_DATE too"


def test_the_built_in_list_says_its_date_and_size() -> None:
    info = PriceList().info
    assert (info.source, info.date) == (PriceListSource.BUILT_IN, BUILT_IN_DATE)
    assert info.models > 1000


def test_a_file_replaces_the_list_and_removing_it_restores_the_built_in_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "prices.json"
    prices = PriceList(path)
    assert prices.find("openai", "gpt-4o")
    price_file(path, 4.0, prices_checked="2026-11-12")
    assert prices.refresh()
    assert (prices.info.source, prices.info.date) == (PriceListSource.FILE, date(2026, 11, 12))
    (period,) = prices.find("acme", "next-1")
    assert (period.rates.input, period.rates.per_call) == (4.0, 0.005)
    assert period.rates.audio_input == NO_RATE
    assert prices.find("openai", "gpt-4o") == []
    assert not prices.refresh()
    path.unlink()
    assert prices.refresh()
    assert prices.find("openai", "gpt-4o")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not a price list"),
        ("{}", "expected a list of providers"),
        ("[]", "has no model with a price"),
        ('[{"id": "acme"}]', "is not a price list"),
        ('[{"id": "a", "name": "A", "api_pattern": "", "models": [1]}]', "is not a price list"),
    ],
)
def test_a_bad_file_is_refused_and_the_list_stays(tmp_path: Path, text: str, problem: str) -> None:
    path = price_file(tmp_path / "prices.json", 4.0)
    prices = PriceList(path)
    path.write_text(text)
    os.utime(path, ns=(1, 1))
    with pytest.raises(Invalid, match=problem):
        read_price_list(path)
    assert not prices.refresh()
    assert prices.info.error is not None
    assert problem in prices.info.error
    assert prices.find("acme", "next-1")


def test_a_missing_file_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"none\.json cannot be read"):
        read_price_list(tmp_path / "none.json")
