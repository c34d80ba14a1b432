"""Dashboard files: the index page for browsers, cached assets, the envelope for the rest."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from spanwise.api.http.dashboard import install_dashboard
from spanwise.api.http.errors import install_error_handlers
from support.service import Service, assert_error

BROWSER = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture
async def built(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>the page</title>")
    (tmp_path / "theme.js").write_text("theme")
    (tmp_path / "assets" / "app-1a2b.js").write_text("plain")
    (tmp_path / "assets" / "app-1a2b.js.br").write_bytes(b"not really brotli")
    app = FastAPI()
    install_error_handlers(app)
    install_dashboard(app, tmp_path)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/traces/0123", "/index.html", "/no/such/page"])
async def test_a_browser_gets_the_page_for_any_path(built: httpx.AsyncClient, path: str) -> None:
    answer = await built.get(path, headers=BROWSER)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert answer.headers["Cache-Control"] == "no-cache"
    assert "the page" in answer.text


async def test_the_page_may_run_no_inline_script_and_no_inline_style(
    built: httpx.AsyncClient,
) -> None:
    policy = (await built.get("/", headers=BROWSER)).headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/api", "/api/nothing", "/assets/old-hash.js"])
async def test_missing_files_are_404_for_browsers_too(built: httpx.AsyncClient, path: str) -> None:
    assert_error(await built.get(path, headers=BROWSER), 404)


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
async def test_the_root_is_the_page_for_every_client(built: httpx.AsyncClient, accept: str) -> None:
    answer = await built.get("/", headers={"Accept": accept})
    assert (answer.status_code, "the page" in answer.text) == (200, True)
    head = await built.head("/", headers={"Accept": accept})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"].startswith("text/html")


async def test_other_clients_get_the_envelope(built: httpx.AsyncClient) -> None:
    assert_error(await built.get("/traces", headers={"Accept": "application/json"}), 404)
    for path in ("/", "/traces"):
        assert_error(await built.post(path, headers=BROWSER), 404)


async def test_only_hashed_files_are_cached_forever(built: httpx.AsyncClient) -> None:
    hashed = await built.get("/assets/app-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert hashed.text == "plain"
    assert "immutable" in hashed.headers["Cache-Control"]
    assert hashed.headers["Content-Type"].startswith("text/javascript")
    assert (await built.get("/theme.js")).headers["Cache-Control"] == "no-cache"


async def test_a_compressed_file_is_sent_to_clients_that_accept_it(
    built: httpx.AsyncClient,
) -> None:
    accepted = {"Accept-Encoding": "gzip, br"}
    async with built.stream("GET", "/assets/app-1a2b.js", headers=accepted) as answer:
        assert answer.headers["Content-Encoding"] == "br"
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert [piece async for piece in answer.aiter_raw()] == [b"not really brotli"]


@pytest.mark.parametrize(
    "path", ["/../secret", "/assets/../../secret", "/%2e%2e/secret", "/%00", "/" + "x" * 5000]
)
async def test_no_path_leads_out_of_the_folder(
    built: httpx.AsyncClient, tmp_path: Path, path: str
) -> None:
    (tmp_path.parent / "secret").write_text("secret")
    assert_error(await built.get(path), 404)


async def test_without_a_build_the_page_explains_how_to_create_one(tmp_path: Path) -> None:
    app = FastAPI()
    install_dashboard(app, tmp_path / "nothing")
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/", headers=BROWSER)
    assert answer.status_code == 404
    assert "make setup" in answer.text


async def test_the_service_serves_it(service: Service) -> None:
    answer = await service.http.get("/", headers=BROWSER)
    assert answer.headers["Content-Type"].startswith("text/html")
    assert answer.headers["X-Frame-Options"] == "DENY"
