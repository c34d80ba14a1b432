"""The OpenAPI document is built once, and not by the event loop."""

import asyncio
import threading

import httpx
import pytest
from fastapi import FastAPI

from spanwise.api.openapi import document


async def test_the_document_is_built_once_and_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    builders = []

    def build(_: FastAPI) -> dict[str, str]:
        builders.append(threading.current_thread())
        return {"openapi": "3.1.0"}

    monkeypatch.setattr(document, "build_document", build)
    app = FastAPI(openapi_url=None)
    document.install_openapi(app)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        answers = await asyncio.gather(*(http.get("/api/openapi.json") for _ in range(3)))
    assert [answer.json() for answer in answers] == [{"openapi": "3.1.0"}] * 3
    [builder] = builders
    assert builder is not threading.main_thread()
