"""Calls to the provider: bounded in time and size, without redirects."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import httpx2
import orjson

from spanwise.services.single_sign_on.refusals import Reason, SignInRefused

CALL_SECONDS = 10.0
MAX_BYTES = 512 * 1024
CACHE_SECONDS = 3600.0
# While the provider is down, people get their answer at once instead of waiting for a timeout.
FAILURE_SECONDS = 5.0

_OK = 200
_FIRST_SERVER_ERROR = 500

T = TypeVar("T")
Json = dict[str, Any]


class ProviderHttp:
    def __init__(self) -> None:
        self._client = httpx2.AsyncClient(
            timeout=CALL_SECONDS,
            follow_redirects=False,
            # A compressed body could be much larger than what was counted.
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def get(self, url: str, **headers: str) -> Json:
        status, document = await self._call("GET", url, headers=headers)
        if status != _OK:
            raise _unavailable(url, f"status {status}")
        return document

    async def post_form(
        self, url: str, form: dict[str, str], auth: tuple[str, str] | None
    ) -> tuple[int, Json]:
        """Post a form; a rejection is returned, a failure is raised."""
        return await self._call("POST", url, data=form, auth=auth)

    async def _call(self, method: str, url: str, **options: Any) -> tuple[int, Json]:  # noqa: ANN401
        try:
            async with (
                asyncio.timeout(CALL_SECONDS),
                self._client.stream(method, url, **options) as response,
            ):
                body = await _read(response)
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError) as error:
            raise _unavailable(url, repr(error)) from None
        if response.status_code >= _FIRST_SERVER_ERROR:
            raise _unavailable(url, f"status {response.status_code}")
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise _unavailable(url, f"status {response.status_code}, not JSON") from None
        if not isinstance(document, dict):
            raise _unavailable(url, "not a JSON object")
        return response.status_code, document


async def _read(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES} bytes")
    return bytes(body)


def _unavailable(url: str, problem: str) -> SignInRefused:
    return SignInRefused(Reason.PROVIDER_UNAVAILABLE, f"{url}: {problem}")


class CachedDocument(Generic[T]):
    """A document of the provider, fetched again when it is old. Callers share a fetch."""

    def __init__(self, fetch: Callable[[], Awaitable[T]]) -> None:
        self._fetch = fetch
        self._lock = asyncio.Lock()
        self._found: tuple[float, T] | None = None
        self._failed: tuple[float, SignInRefused] | None = None

    async def get(self, max_age_seconds: float = CACHE_SECONDS) -> T:
        async with self._lock:
            now = time.monotonic()
            if self._found is not None and now - self._found[0] < max_age_seconds:
                return self._found[1]
            if self._failed is not None and now - self._failed[0] < FAILURE_SECONDS:
                raise SignInRefused(self._failed[1].reason, self._failed[1].detail)
            try:
                document = await self._fetch()
            except SignInRefused as refused:
                self._failed = (time.monotonic(), refused)
                raise
            self._found, self._failed = (now, document), None
            return document
