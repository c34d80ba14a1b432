"""Fixtures for the catalog on SQLite and PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from spanwise.storage.catalog import Catalog


@pytest.fixture
async def catalog(catalog_url: str) -> AsyncIterator[Catalog]:
    opened = await Catalog.open(catalog_url)
    yield opened
    await opened.close()
