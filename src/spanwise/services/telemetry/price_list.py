"""The public price list in use: the installed `genai-prices` data set, or a file of its format."""

import json
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import structlog
from genai_prices.data_snapshot import DataSnapshot, get_snapshot

# Private, but what the package's own updater parses a downloaded list with.
from genai_prices.types import _providers_from_raw
from pydantic import ValidationError

from spanwise.analysis.prices import count_models, find_list_prices
from spanwise.model.errors import Invalid
from spanwise.model.telemetry.prices import PriceListInfo, PriceListSource, PricePeriod

log = structlog.get_logger()

# The latest change of a price that this version of the package notes; a test compares the version.
BUILT_IN_VERSION, BUILT_IN_DATE = "0.2.1", date(2026, 10, 30)


class PriceList:
    """The list in use. A file replaces the built-in list; a bad one leaves it as it is."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._modified: int | None = None
        self._snapshot = get_snapshot()
        self._file_info: PriceListInfo | None = None
        self._error: str | None = None
        self.refresh()

    @property
    def info(self) -> PriceListInfo:
        info = self._file_info or _built_in_info()
        return info.model_copy(update={"error": self._error}) if self._error else info

    def find(self, provider: str, model: str) -> list[PricePeriod]:
        """Return the price periods of a model, oldest first; empty when it is unknown."""
        return find_list_prices(provider, model, self._snapshot)

    def refresh(self) -> bool:
        """Read the file if it has changed; return whether the list is another one now."""
        modified = _find_modified(self._path)
        if self._path is None or modified == self._modified:
            return False
        self._modified = modified
        if modified is None:
            self._snapshot, self._file_info = get_snapshot(), None
        else:
            try:
                self._snapshot, self._file_info = read_price_list(self._path)
            except Invalid as error:
                log.error("price_list_refused", path=str(self._path), error=error.message)
                self._error = error.message
                return False
        self._error = None
        info = self.info
        log.info("price_list_loaded", source=info.source, date=str(info.date), models=info.models)
        return True


def _find_modified(path: Path | None) -> int | None:
    try:
        return None if path is None else path.stat().st_mtime_ns
    except OSError:
        return None


@cache
def _built_in_info() -> PriceListInfo:
    """Return the facts of the built-in list, on first use: counting its models takes 0.1 s."""
    models = count_models(get_snapshot())
    return PriceListInfo(source=PriceListSource.BUILT_IN, date=BUILT_IN_DATE, models=models)


def read_price_list(path: Path) -> tuple[DataSnapshot, PriceListInfo]:
    """Read a file as genai-prices publishes it; raises Invalid when it is not one."""
    try:
        raw = json.loads(path.read_bytes())
        if not isinstance(raw, list):
            raise Invalid(f"{path} is not a price list: expected a list of providers")
        snapshot = DataSnapshot(_providers_from_raw(raw), from_auto_update=False)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        problem = error.errors()[0]
        at = ".".join(map(str, problem["loc"]))
        raise Invalid(f"{path} is not a price list: {at}: {problem['msg']}") from None
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise Invalid(f"{path} is not a price list: {error}") from None
    models = count_models(snapshot)
    if not models:
        raise Invalid(f"{path} has no model with a price")
    checked = _find_checked(raw) or datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
    return snapshot, PriceListInfo(source=PriceListSource.FILE, date=checked, models=models)


def _find_checked(raw: list[Any]) -> date | None:
    """Return the latest day on which a price was checked; the slim file has none."""
    days = (
        model.get("prices_checked") for provider in raw for model in provider.get("models") or ()
    )
    return max((date.fromisoformat(str(day)) for day in days if day), default=None)
