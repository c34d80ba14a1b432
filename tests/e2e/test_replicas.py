"""Two processes on one catalog: a revocation applies to both within five seconds."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest

from support.process import Running, run_service

SECRET = "a secret that both replicas know"
PROMISE_SECONDS = 5


# One pair of processes for the module.
pytestmark = pytest.mark.xdist_group("e2e replicas")


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Running]]:
    folder = tmp_path_factory.mktemp("replicas")
    shared = {
        "catalog_url": f"sqlite:///{folder / 'catalog.db'}",
        "secret_key": SECRET,
        "rate_limit_standard": 0,
        "rate_limit_ingestion": 0,
    }
    with ExitStack() as stack:
        one = stack.enter_context(run_service(folder / "one", **shared))
        two = stack.enter_context(run_service(folder / "two", **shared))
        yield one, two


@pytest.fixture(scope="module")
def admin(replicas: tuple[Running, Running]) -> Iterator[httpx.Client]:
    """The first account of the catalog."""
    with replicas[0].sign_up("admin@example.com") as signed_up:
        yield signed_up


def accepted_for(replica: Running, path: str, headers: dict[str, str]) -> float:
    """Return for how many seconds from now requests are still accepted."""
    began = time.monotonic()
    latest = 0.0
    while latest < 2 * PROMISE_SECONDS:
        requested = time.monotonic() - began
        if replica.get(path, headers=headers).status_code == 401:
            return latest
        latest = requested
        time.sleep(0.05)
    return latest


def test_a_token_works_on_both_and_a_revocation_stops_key_and_account_on_both(
    replicas: tuple[Running, Running], admin: httpx.Client
) -> None:
    one, two = replicas
    key = admin.post("/keys", json={"name": "mine"}).json()["data"]
    by_key = {"x-api-key": key["key"]}
    for replica in replicas:
        assert replica.get("/spans/traces", headers=by_key).status_code == 200
    with one.sign_up("bob@example.com") as bob, ThreadPoolExecutor() as pool:
        user = bob.get("/users/profile").json()["data"]
        by_token = {"Authorization": bob.headers["Authorization"]}
        assert two.get("/users/profile", headers=by_token).json()["data"] == user
        assert admin.post(f"/keys/{key['id']}/revoke").status_code == 200
        # Both are cached on the other replica, and expire at the same time.
        of_key = pool.submit(accepted_for, two, "/spans/traces", by_key)
        answer = admin.put(f"/admin/users/{user['id']}", json={"disabled": True})
        assert answer.status_code == 200
        of_account = pool.submit(accepted_for, two, "/users/profile", by_token)
        assert one.get("/spans/traces", headers=by_key).status_code == 401
        assert one.get("/users/profile", headers=by_token).status_code == 401
        assert of_key.result() < PROMISE_SECONDS
        assert of_account.result() < PROMISE_SECONDS
