"""Rate limits, a full disk and a crash: OTLP errors, with a delay after which to retry."""

from collections.abc import AsyncIterator

import pytest
from google.rpc import code_pb2

from support.otlp import JSON, PROTOBUF, Exporter, make_span, make_traces, status_of
from support.service import Service, assert_error, start_service
from support.spans import span

LIMIT = 2


@pytest.fixture(scope="module")
async def limited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service with a low limit and a full disk, which exports without content do not need."""
    settings = {"rate_limit_ingestion": LIMIT, "min_free_disk_mb": 2**40}
    async with start_service(tmp_path_factory.mktemp("limited"), **settings) as running:
        yield running


@pytest.mark.parametrize("path", ["/api/otlp/v1/traces", "/v1/traces", "/v1/logs"])
async def test_a_request_over_the_rate_limit_is_429_as_otlp(limited: Service, path: str) -> None:
    person = await limited.sign_up()
    exporter = Exporter(limited.http, (await person.new_key())["key"])
    for _ in range(LIMIT):
        assert (await exporter.post(b"", path)).status_code == 200
    response = await exporter.post(b"", path)
    assert response.status_code == 429
    assert status_of(response).code == code_pb2.RESOURCE_EXHAUSTED
    assert 1 <= int(response.headers["retry-after"]) <= 61
    assert response.headers["x-ratelimit-remaining"] == "0"
    as_json = await exporter.post(b"{}", path, JSON)
    assert as_json.headers["content-type"] == JSON
    assert as_json.json()["code"] == code_pb2.RESOURCE_EXHAUSTED


async def test_a_full_disk_is_503_with_retry_after_and_reads_continue(limited: Service) -> None:
    person = await limited.sign_up()
    exporter = Exporter(limited.http, (await person.new_key())["key"])
    response = await exporter.post(make_traces([make_span()]))
    assert response.status_code == 503
    assert status_of(response).code == code_pb2.UNAVAILABLE
    assert 1 <= int(response.headers["retry-after"]) <= 5
    as_rest = await person.call("POST", "/spans", json=span())
    assert_error(as_rest, 503)
    assert 1 <= int(as_rest.headers["retry-after"]) <= 5
    assert await person.data("GET", "/spans/traces") == []


async def test_a_server_error_is_a_status_too(
    service: Service, exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.services.ingest.receiver, "receive_otlp", None)
    response = await exporter.post(make_traces([make_span()]), content_type=PROTOBUF)
    assert response.status_code == 500
    assert status_of(response).code == code_pb2.INTERNAL
    assert "NoneType" not in status_of(response).message
