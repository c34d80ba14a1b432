"""Webhooks cannot connect to private addresses."""

from collections.abc import Iterator

import pytest

from spanwise.services.notifications.webhook_guard import AddressRefused, WebhookGuard, is_public
from support.receivers import HookServer, hook_server

PRIVATE = [
    "127.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fd00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fec0::1",
    "3fff::1",
    "192.88.99.1",
    "::ffff:192.88.99.1",
    "not an address",
]


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    with hook_server() as server:
        yield server


@pytest.mark.parametrize("address", PRIVATE)
def test_private_and_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111"])
def test_global_addresses_are_public(address: str) -> None:
    assert is_public(address)


class Rebinding:
    """A name server that returns another address each time, and the last one forever."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)

    async def __call__(self, host: str, port: int) -> list[str]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def test_a_name_that_becomes_private_after_the_check_is_refused(
    hooks: HookServer,
) -> None:
    guard = WebhookGuard(
        allow_private=False, resolver=Rebinding(["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8"])
    )
    url = hooks.url.replace("127.0.0.1", "hooks.example.com")
    assert await guard.find_problem(url) is None
    with pytest.raises(AddressRefused, match="SPANWISE_ALLOW_PRIVATE_WEBHOOKS"):
        await guard.post(url, {}, b"{}")
    assert hooks.received == []


async def test_one_private_address_among_others_is_refused(hooks: HookServer) -> None:
    resolver = Rebinding(["8.8.8.8", "::ffff:127.0.0.1"])
    guard = WebhookGuard(allow_private=False, resolver=resolver)
    url = hooks.url.replace("127.0.0.1", "hooks.example.com")
    assert await guard.find_problem(url) is not None
    with pytest.raises(AddressRefused):
        await guard.post(url, {}, b"{}")


async def test_the_connected_peer_is_checked_too(
    hooks: HookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Simulates a public address that is routed here: only the peer address reveals it.
    checked: list[str] = []

    def first_public(address: str) -> bool:
        checked.append(address)
        return len(checked) == 1

    monkeypatch.setattr("spanwise.services.notifications.webhook_guard.is_public", first_public)
    with pytest.raises(AddressRefused):
        await WebhookGuard(allow_private=False).post(hooks.url, {}, b"{}")
    assert checked == ["127.0.0.1", "127.0.0.1"]
    assert hooks.received == []


async def test_an_installation_may_allow_private_addresses(hooks: HookServer) -> None:
    guard = WebhookGuard(allow_private=True)
    assert await guard.find_problem(hooks.url) is None
    assert await guard.post(hooks.url, {"x-test": "1"}, b'{"a": 1}') == (200, b"")
    [received] = hooks.received
    assert received.headers["x-test"] == "1"
    assert received.headers["host"] == f"127.0.0.1:{hooks.port}"
    assert received.body == b'{"a": 1}'


async def test_a_redirect_is_not_followed(hooks: HookServer) -> None:
    hooks.status, hooks.location = 307, hooks.url + "/else"
    assert await WebhookGuard(allow_private=True).post(hooks.url, {}, b"") == (307, b"")
    assert len(hooks.received) == 1
