"""Health, readiness, version, metrics and the docs page, without authentication."""

import asyncio
import platform
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from spanwise import __version__
from support.polling import until
from support.servers import run_redis
from support.service import Service, assert_error, start_service
from support.spans import span


@pytest.fixture(scope="module")
async def fresh(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service that has counted nothing yet."""
    async with start_service(tmp_path_factory.mktemp("metrics")) as running:
        yield running


async def test_health_and_version_use_the_envelope(service: Service) -> None:
    health = (await service.call("GET", "/health")).json()
    assert health == {"success": True, "data": {"status": "ok"}}
    version = (await service.call("GET", "/version")).json()
    assert version["data"] == {"version": __version__, "python": platform.python_version()}


async def test_ready_names_every_store(service: Service) -> None:
    ready = (await service.call("GET", "/ready")).json()["data"]
    assert ready["status"] == "ready"
    assert ready["stores"] == dict.fromkeys(("catalog", "counters", "journal", "telemetry"), "ok")


async def test_ready_is_503_while_a_store_is_unavailable(tmp_path: Path) -> None:
    with run_redis(tmp_path) as redis:
        async with start_service(tmp_path, redis_url=redis.url) as service:
            assert (await service.call("GET", "/ready")).status_code == 200
            redis.process.kill()
            redis.process.wait()

            async def is_noticed() -> bool:
                return (await service.call("GET", "/ready")).status_code == 503

            # The result is cached for a second.
            await until(is_noticed)
            response = await service.call("GET", "/ready")
            assert_error(response, 503)
            assert "counters" in response.json()["error"]["message"]
            assert int(response.headers["Retry-After"]) >= 1
            assert (await service.call("GET", "/health")).status_code == 200


async def test_ready_is_503_while_the_store_rejects_writes(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh.services.ingest.pipeline._backlog, "is_stalled", True)
    response = await fresh.call("GET", "/ready")
    assert_error(response, 503)
    assert "journal" in response.json()["error"]["message"]


@pytest.mark.own_service
async def test_frequent_readiness_checks_write_once(service: Service) -> None:
    writes: list[str] = []

    def count(*arguments: Any) -> None:
        writes.append(arguments[2])

    engine = service.services.catalog._engine.sync_engine
    event.listen(engine, "before_cursor_execute", count)
    answers = await asyncio.gather(*(service.call("GET", "/ready") for _ in range(20)))
    event.remove(engine, "before_cursor_execute", count)
    assert {answer.status_code for answer in answers} == {200}
    assert 1 <= len([sql for sql in writes if "leases" in sql]) <= 6


async def test_metrics_count_requests_by_route_and_not_by_path(fresh: Service) -> None:
    service, ann = fresh, await fresh.sign_up()
    for number in range(3):
        await ann.call("DELETE", f"/keys/key_{number}")
        await service.call("BREW" + "X" * number, f"/nothing/{number}")
    response = await service.http.get("/metrics")
    assert response.headers["Content-Type"].startswith("text/plain")
    text, again = response.text, (await service.http.get("/metrics")).text
    route = 'method="DELETE",route="/api/keys/{id}",status="404"'
    assert f"spanwise_http_requests_total{{{route}}} 3.0" in text
    assert 'method="GET",route="/metrics"' in again
    assert 'method="other",route="unmatched",status="404"} 3.0' in text
    assert "spanwise_http_request_seconds_bucket" in text
    assert "key_1" not in text
    assert "BREW" not in text


async def test_metrics_count_ingested_items(fresh: Service) -> None:
    service, ann = fresh, await fresh.sign_up()
    before = (await service.http.get("/metrics")).text
    assert "spanwise_ingest_stalled 0.0" in before
    await ann.data("POST", "/spans", json={"spans": [span(), span(), span()]})
    await ann.data("GET", "/spans/traces")
    text = (await service.http.get("/metrics")).text
    assert 'spanwise_ingest_items_total{kind="traces"} 3.0' in text
    assert re.search(r'spanwise_ingest_bytes_total{kind="traces"} [1-9]', text)
    assert "spanwise_ingest_apply_seconds_count 1.0" in text
    assert "spanwise_ingest_backlog_bytes 0.0" in text
    assert "spanwise_ingest_stalls_total 0.0" in text
    assert "spanwise_repricing_tasks" in text
    assert "spanwise_repricing_months_total" in text


async def test_the_docs_page_loads_nothing_from_elsewhere(service: Service) -> None:
    page = await service.http.get("/api/docs")
    assert page.headers["Content-Type"].startswith("text/html")
    assert not re.search(r"https?://|//[a-z]", page.text)
    assert "<script>" not in page.text
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(loaded) == 3
    for path in loaded:
        assert path.startswith("/api/docs/")
        assert (await service.http.get(path)).status_code == 200
    start = (await service.http.get("/api/docs/start.js")).text
    assert not re.search(r"https?://", start)
    # Without it, Swagger UI sends the document to an external validator.
    assert "validatorUrl: null" in start


async def test_only_assets_are_served_beside_the_docs(service: Service) -> None:
    for path in ("../../__init__.py", "%2e%2e/__init__.py", "nothing.js"):
        assert_error(await service.http.get(f"/api/docs/assets/{path}"), 404)
