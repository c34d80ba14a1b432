"""Plain assignments take a fast path that responds like the normal path."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from spanwise.services import access
from spanwise.services.experiments import assignments
from support.experiments import create, start
from support.listening import (
    Listening,
    listening,
    paused_journal,
    raw,
    stable_headers,
    until_shutting_down,
)
from support.service import Person, Service, assert_error, start_service

LIMIT = 12


@pytest.fixture(scope="module")
async def here(shared_service: Service) -> AsyncIterator[Listening]:
    async with listening(shared_service) as opened:
        yield opened


@pytest.fixture(scope="module")
async def limited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    """A service with a low limit for each caller, whose requests and failures are counted."""
    folder = tmp_path_factory.mktemp("limited")
    async with (
        start_service(folder, rate_limit_standard=LIMIT) as service,
        listening(service) as opened,
    ):
        yield opened


@pytest.fixture(autouse=True)
def _long_cache_ttl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep cached keys and experiments for the whole test, however slow the machine is."""
    monkeypatch.setattr(access, "CACHE_SECONDS", 60.0)
    monkeypatch.setattr(assignments, "CACHE_SECONDS", 60.0)


async def assign(
    here: Listening, experiment: dict[str, Any], unit: str, key: str
) -> httpx.Response:
    path = f"/api/experiments/{experiment['id']}/assign"
    return await here.http.get(path, params={"unitId": unit}, headers={"x-api-key": key})


async def warm_up(here: Listening, experiment: dict[str, Any], key: str) -> None:
    """Cache key and experiment, which the fast path needs."""
    assert (await assign(here, experiment, "the first", key)).is_success
    here.handled.clear()


def get(experiment: dict[str, Any], unit: str, key: str, *headers: str) -> bytes:
    lines = [
        f"GET /api/experiments/{experiment['id']}/assign?unitId={unit} HTTP/1.1",
        "Host: test",
        f"x-api-key: {key}",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def sign_up_with_key(service: Service) -> tuple[Person, str]:
    ann = await service.sign_up()
    return ann, (await ann.new_key(scopes=["ingest"]))["key"]


async def test_the_fast_path_responds_like_the_normal_path(
    service: Service, here: Listening
) -> None:
    ann, key = await sign_up_with_key(service)
    variants = [{"key": "a", "config": {"m": "x"}}, {"key": "b", "config": {"m": "y"}}]
    running = await start(ann, variants=variants)
    await warm_up(here, running, key)
    for unit in ("user-1", "ünit ☃ &?/", "x" * 512):
        new = await assign(here, running, unit, key)
        path = f"/api/experiments/{running['id']}/assign"
        headers = {"x-api-key": key}
        params = {"unitId": unit}
        normal = await service.http.get(path, params=params, headers=headers)
        assert new.json() == normal.json() == (await assign(here, running, unit, key)).json()
        assert stable_headers(new) == stable_headers(normal)
    assert here.handled == [True] * 6


async def test_an_exposure_is_stored_once_before_the_response(
    service: Service, here: Listening
) -> None:
    ann, key = await sign_up_with_key(service)
    running = await start(ann)
    await warm_up(here, running, key)
    units = [f"user-{number % 50}" for number in range(200)]
    await asyncio.gather(*(assign(here, running, unit, key) for unit in units))
    assert all(here.handled)
    await service.services.pipeline.wait_until_visible()
    rows = await service.services.engine.fetch(
        "SELECT uniqExact(unit_id) AS units FROM exposures WHERE experiment_id = {id:String}",
        {"id": running["id"]},
    )
    assert rows == [{"units": 51}]


async def test_other_requests_take_the_normal_path(service: Service, here: Listening) -> None:
    ann, key = await sign_up_with_key(service)
    running, draft = await start(ann), await create(ann)
    path = f"/api/experiments/{running['id']}/assign"
    await warm_up(here, running, key)
    http, headers = here.http, {"x-api-key": key}
    assert_error(await http.get(path, headers=headers), 400, "unitId")
    assert_error(await http.get(f"{path}?unitId=", headers=headers), 400, "unitId")
    assert_error(await http.get(f"{path}?unitId=a&unitId=", headers=headers), 400, "unitId")
    assert_error(await assign(here, running, "x" * 513, key), 400, "unitId")
    assert_error(await http.get(f"{path}?unitId=a%00b", headers=headers), 400)
    assert_error(await http.get(f"{path}?unitId=a&x=%00", headers=headers), 400)
    assert_error(await assign(here, draft, "u", key), 400, "status")
    assert_error(await assign(here, {"id": "exp_0"}, "u", key), 404)
    assert_error(await http.get(f"{path}?unitId=u"), 401)
    assert_error(await assign(here, running, "u", "sw_" + "0" * 48), 401)
    assert_error(await http.post(f"{path}?unitId=u", headers=headers), 404)
    odd = {b"authorization": "Basic é".encode("latin-1")}
    assert_error(await http.get(f"{path}?unitId=u", headers=odd), 401)
    assert not any(here.handled)


async def test_other_workspaces_and_revoked_keys_are_rejected(
    service: Service, here: Listening
) -> None:
    ann, key = await sign_up_with_key(service)
    running = await start(ann)
    bob, bobs = await sign_up_with_key(service)
    theirs = await start(bob)
    await warm_up(here, running, key)
    await warm_up(here, theirs, bobs)
    assert_error(await assign(here, running, "u", bobs), 404)
    ours = (await ann.data("GET", "/keys"))[0]
    await ann.data("POST", f"/keys/{ours['id']}/revoke")
    assert_error(await assign(here, running, "u", key), 401)
    assert not any(here.handled)


async def test_a_pause_takes_effect_at_once(service: Service, here: Listening) -> None:
    ann, key = await sign_up_with_key(service)
    running = await start(ann)
    await warm_up(here, running, key)
    await ann.data("POST", f"/experiments/{running['id']}/pause")
    assert (await assign(here, running, "late", key)).json()["data"]["inExperiment"] is False
    assert here.handled == [False]


async def test_the_fast_path_counts_rate_limits(limited: Listening) -> None:
    ann, key = await sign_up_with_key(limited.service)
    running, unknown = await start(ann), await start(ann)
    await warm_up(limited, running, key)
    answers = [await assign(limited, unknown, "user-0", key)]
    answers += [await assign(limited, running, f"user-{n}", key) for n in range(LIMIT)]
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in answers]
    assert left[: LIMIT - 1] == [*range(LIMIT - 2, -1, -1)]
    assert [answer.status_code for answer in answers] == [200] * (LIMIT - 1) + [429] * 2
    assert limited.handled == [False] + [True] * (LIMIT - 2) + [False] * 2


async def test_a_failing_journal_is_reported_and_counted_once(limited: Listening) -> None:
    ann, key = await sign_up_with_key(limited.service)
    running = await start(ann)
    await warm_up(limited, running, key)
    disk = limited.service.services.pipeline._free_space
    disk._min_free_bytes, disk._valid_until = 2**62, 0.0
    refused = await assign(limited, running, "user-1", key)
    assert_error(refused, 503)
    assert refused.headers["retry-after"] == "5"
    assert refused.headers["x-ratelimit-remaining"] == str(LIMIT - 2)
    disk._min_free_bytes = 0
    accepted = await assign(limited, running, "user-1", key)
    assert accepted.is_success
    assert accepted.headers["x-ratelimit-remaining"] == str(LIMIT - 3)
    assert limited.handled == [True, True]


async def test_pipelined_requests_are_answered_in_order(service: Service, here: Listening) -> None:
    ann, key = await sign_up_with_key(service)
    running = await start(ann)
    await warm_up(here, running, key)
    # The units are new in the first round and cached in the second.
    units = [f"user-{number}" for number in range(100)]
    for _ in range(2):
        requests = [get(running, unit, key) for unit in units]
        requests.append(get(running, "the-last", key, "Connection: close"))
        answer = (await raw(here.port, b"".join(requests))).decode()
        assert answer.count("HTTP/1.1 200 OK") == 101
        assigned = [part.partition('"')[0] for part in answer.split('"unitId":"')[1:]]
        assert assigned == [*units, "the-last"]
        assert answer.count("connection: close") == 1
    assert here.handled.count(True) >= 100


async def test_the_request_id_is_returned_and_requests_are_counted(limited: Listening) -> None:
    ann, key = await sign_up_with_key(limited.service)
    running = await start(ann)

    async def count() -> float:
        label = 'method="GET",route="/api/experiments/{id}/assign",status="200"'
        line = re.escape(f"spanwise_http_requests_total{{{label}}} ") + r"(\S+)"
        found = re.search(line, (await limited.http.get("/metrics")).text)
        return float(found[1]) if found else 0

    before = await count()
    await warm_up(limited, running, key)
    headers = {"x-api-key": key, "x-request-id": "my-request-1"}
    path = f"/api/experiments/{running['id']}/assign?unitId=u"
    answer = await limited.http.get(path, headers=headers)
    assert answer.headers["x-request-id"] == "my-request-1"
    from_page = await limited.http.get(path, headers={**headers, "origin": "https://a.example"})
    assert from_page.is_success
    assert limited.handled == [True]
    assert await count() == before + 3


async def test_shutdown_finishes_a_request_that_waits_for_the_journal(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, key = await sign_up_with_key(service)
    running = await start(ann)
    async with listening(service) as here:
        await warm_up(here, running, key)
        async with paused_journal(service, monkeypatch) as (is_writing, may_write):
            sending = asyncio.create_task(raw(here.port, get(running, "user-1", key)))
            await asyncio.to_thread(is_writing.wait, 20)
            here.server.should_exit = True
            await until_shutting_down(here)
            assert not sending.done()
            may_write.set()
            # The connection closes only after the whole response.
            answer = await sending
        assert b"connection: close" in answer
        assert answer.endswith(b"}}")
        assert here.handled == [True]


async def test_the_keep_alive_timeout_does_not_end_a_pipelined_request(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, key = await sign_up_with_key(service)
    running = await start(ann)
    async with listening(service, keep_alive_seconds=0.2) as here:
        await warm_up(here, running, key)
        async with paused_journal(service, monkeypatch) as (is_writing, may_write):
            both = get(running, "the%20first", key) + get(running, "user-1", key)
            sending = asyncio.create_task(raw(here.port, both))
            await asyncio.to_thread(is_writing.wait, 20)
            # Longer than the keep-alive timeout.
            await asyncio.sleep(0.6)
            may_write.set()
            assert (await sending).count(b"HTTP/1.1 200 OK") == 2
