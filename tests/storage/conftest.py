"""Fixtures for the catalog on SQLite and PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from spanwise.storage.catalog import Catalog


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Repeat on PostgreSQL in `make test` only the tests marked `both_engines`.

    Their statements, transactions or locks differ between the databases; `make test-all` repeats
    all.
    """
    for item in items:
        if not item.path.is_relative_to(Path(__file__).parent):
            continue
        call = getattr(item, "callspec", None)
        is_postgresql = call is not None and call.params.get("catalog_url") == "postgresql"
        if is_postgresql and item.get_closest_marker("both_engines") is None:
            item.add_marker(pytest.mark.long)


@pytest.fixture
async def catalog(catalog_url: str) -> AsyncIterator[Catalog]:
    opened = await Catalog.open(catalog_url)
    yield opened
    await opened.close()
