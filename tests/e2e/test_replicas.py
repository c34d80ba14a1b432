"""Two processes on one catalog: a revocation applies to both within five seconds."""

import time
from collections.abc import Iterator
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
    return latest


def test_a_revoked_key_stops_on_both(
    replicas: tuple[Running, Running], admin: httpx.Client
) -> None:
    one, two = replicas
    key = admin.post("/keys", json={"name": "mine"}).json()["data"]
    header = {"x-api-key": key["key"]}
    for replica in replicas:
        assert replica.get("/spans/traces", headers=header).status_code == 200
    assert admin.post(f"/keys/{key['id']}/revoke").status_code == 200
    assert one.get("/spans/traces", headers=header).status_code == 401
    assert accepted_for(two, "/spans/traces", header) < PROMISE_SECONDS


def test_a_disabled_account_stops_on_both_and_a_token_works_on_both(
    replicas: tuple[Running, Running], admin: httpx.Client
) -> None:
    one, two = replicas
    with one.sign_up("bob@example.com") as bob:
        user = bob.get("/users/profile").json()["data"]
        header = {"Authorization": bob.headers["Authorization"]}
        assert two.get("/users/profile", headers=header).json()["data"] == user
        answer = admin.put(f"/admin/users/{user['id']}", json={"disabled": True})
        assert answer.status_code == 200
        assert one.get("/users/profile", headers=header).status_code == 401
        assert accepted_for(two, "/users/profile", header) < PROMISE_SECONDS
