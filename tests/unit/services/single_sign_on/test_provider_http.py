"""Calls to the provider are bounded, and documents are cached."""

import asyncio

import pytest

from spanwise.services.single_sign_on import provider_http
from spanwise.services.single_sign_on.provider_http import CachedDocument, ProviderHttp
from spanwise.services.single_sign_on.refusals import Reason, SignInRefused


async def test_a_provider_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def keep_silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # Bytes that never end, so that no timeout between two of them applies.
            while True:
                writer.write(b"X: y\r\n")
                await writer.drain()
                await asyncio.sleep(0.02)
        except ConnectionError:
            writer.close()

    monkeypatch.setattr(provider_http, "CALL_SECONDS", 0.3)
    server = await asyncio.start_server(keep_silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    http = ProviderHttp()
    with pytest.raises(SignInRefused, match="provider_unavailable"):
        await http.get(f"http://127.0.0.1:{port}/")
    await http.close()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize("url", ["", "https://", "https://[", "ftp://x", "http://a b/"])
async def test_an_impossible_address_is_reported(url: str) -> None:
    http = ProviderHttp()
    with pytest.raises(SignInRefused, match="provider_unavailable"):
        await http.get(url)
    await http.close()


async def test_concurrent_callers_share_a_fetch() -> None:
    fetches = 0

    async def fetch() -> int:
        nonlocal fetches
        fetches += 1
        await asyncio.sleep(0.01)
        return fetches

    cached = CachedDocument(fetch)
    assert await asyncio.gather(*(cached.get() for _ in range(5))) == [1] * 5
    assert await cached.get(0) == 2
    assert await cached.get() == 2


async def test_a_failure_is_remembered_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    fetches = 0

    async def fail() -> int:
        nonlocal fetches
        fetches += 1
        raise SignInRefused(Reason.PROVIDER_UNAVAILABLE, "down")

    cached = CachedDocument(fail)
    for _ in range(3):
        with pytest.raises(SignInRefused, match="down"):
            await cached.get()
    assert fetches == 1
    monkeypatch.setattr(provider_http, "FAILURE_SECONDS", 0)
    with pytest.raises(SignInRefused, match="down"):
        await cached.get()
    assert fetches == 2
