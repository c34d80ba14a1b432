"""Retries come soon, so that tests of a failing store are fast."""

import pytest

from spanwise.ingest.commit import applier


@pytest.fixture(autouse=True)
def _retry_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applier, "RETRY_SECONDS", 0.05)
