"""Alert notifications by mail and webhook: signed, sent once, grouped, repeated, retried."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook

from support.alerting import UNDISTURBED, forget_alerting
from support.clock import Clock
from support.receivers import HookServer, Inbox, hook_server, smtp_server
from support.service import Person, Service, assert_error, start_service
from support.traces import make_span, send_traces

RULE = {"id": "errors", "metric": "errorRate", "condition": "above", "threshold": 0.5}
ADDRESS = "oncall@example.com"


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    with hook_server() as server:
        yield server


@pytest.fixture(scope="module")
def mail() -> Iterator[tuple[Inbox, int]]:
    with smtp_server() as server:
        yield server


class Desk:
    """A user with an agent whose alerts are sent by mail and webhook."""

    def __init__(self, service: Service, person: Person, clock: Clock) -> None:
        self.service = service
        self.person = person
        self.clock = clock

    async def watch(self, url: str, *rules: dict[str, Any], agent: str = "planner") -> str:
        await self.person.call("POST", "/agents", json={"name": agent})
        notify = {"emails": [ADDRESS], "webhooks": [{"url": url}]}
        body = {"rules": list(rules) or [RULE], "notify": notify}
        changed = await self.person.data("PUT", f"/agents/{agent}/alerts", json=body)
        secret: str = changed["alertSettings"]["notify"]["webhooks"][0]["secret"]
        return secret

    async def fail(self, *agents: str) -> None:
        start = self.clock.now - timedelta(seconds=1)
        failed = [make_span(agent, start=start, status="error") for agent in agents or ["planner"]]
        await send_traces(self.person, failed)

    async def work(self, **by: float) -> None:
        """Advance the clock, evaluate and send."""
        self.clock.turn(**by)
        await self.service.services.alerting.alert_jobs.evaluate()
        await self.service.services.alerting.alert_jobs.send()

    async def retry(self, **by: float) -> None:
        """Advance the clock and send what is due by then."""
        self.clock.turn(**by)
        await self.service.services.alerting.alert_jobs.send()

    async def deliveries(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.person.data("GET", "/events/deliveries")
        return found


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
async def running(
    tmp_path_factory: pytest.TempPathFactory,
    cheap_hashes: None,
    clock: Clock,
    mail: tuple[Inbox, int],
) -> AsyncIterator[Service]:
    settings = {"smtp_url": f"smtp://127.0.0.1:{mail[1]}", "allow_private_webhooks": True}
    folder = tmp_path_factory.mktemp("notifications")
    async with start_service(folder, clock, **settings, **UNDISTURBED) as service:
        yield service


@pytest.fixture
async def desk(running: Service, clock: Clock, mail: tuple[Inbox, int]) -> AsyncIterator[Desk]:
    person = await running.sign_up()
    await running.services.identity.accounts._mailer.drain()
    mail[0].messages.clear()
    yield Desk(running, person, clock)
    await forget_alerting(running, clock)


async def test_notifications_are_sent_from_trigger_to_resolution(
    desk: Desk, hooks: HookServer, mail: tuple[Inbox, int]
) -> None:
    secret = await desk.watch(hooks.url)
    await desk.fail()
    await desk.work()
    [alert] = await desk.person.data("GET", "/spans/alerts")
    await desk.person.data("PUT", f"/spans/alerts/{alert['id']}/acknowledge", json={})
    await desk.work(minutes=1)
    await desk.person.data("PUT", f"/spans/alerts/{alert['id']}/reopen", json={})
    await desk.work(minutes=1)
    await desk.person.data("PUT", "/agents/planner/alerts", json={"rules": []})
    await desk.work(minutes=1)
    assert hooks.types() == ["alert.triggered", "alert.reopened", "alert.resolved"]
    assert [subject.partition(":")[0] for subject in mail[0].subjects()] == [
        "Triggered",
        "Reopened",
        "Resolved",
    ]
    first = hooks.accepted[0]
    assert Webhook(secret).verify(first.body, first.headers) == first.json
    assert first.json["data"]["id"] == alert["id"]
    assert mail[0].messages[0]["To"] == ADDRESS
    assert f"/alerts?alert={alert['id']}" in str(mail[0].messages[0].get_payload())
    assert {d["status"] for d in await desk.deliveries()} == {"delivered"}


async def test_an_active_alert_is_repeated_every_four_hours(desk: Desk, hooks: HookServer) -> None:
    await desk.watch(hooks.url)
    await desk.fail()
    await desk.work()
    for hours in (3, 2, 3, 1):
        await desk.work(hours=hours)
    assert hooks.types() == ["alert.triggered", "alert.repeated", "alert.repeated"]
    [alert] = await desk.person.data("GET", "/spans/alerts")
    await desk.person.data("PUT", f"/spans/alerts/{alert['id']}/acknowledge", json={})
    await desk.work(hours=9)
    assert len(hooks.accepted) == 3


async def test_alerts_of_one_evaluation_share_a_mail(
    desk: Desk, hooks: HookServer, mail: tuple[Inbox, int]
) -> None:
    second = {"metric": "requestCount", "condition": "above", "threshold": 0}
    await desk.watch(hooks.url, RULE, second)
    await desk.watch(hooks.url, RULE, agent="writer")
    await desk.fail("planner", "writer")
    await desk.work()
    assert len(hooks.accepted) == 3
    assert len({received.id for received in hooks.accepted}) == 3
    [message] = mail[0].messages
    assert message["Subject"].startswith("3 alerts")


async def test_a_failed_delivery_is_retried_with_the_same_id(desk: Desk, hooks: HookServer) -> None:
    hooks.status = 503
    await desk.watch(hooks.url)
    await desk.fail()
    await desk.work()
    await desk.retry(seconds=3)
    assert len(hooks.received) == 1
    [waiting] = [d for d in await desk.deliveries() if d["channel"] == "webhook"]
    assert (waiting["status"], waiting["attempts"]) == ("pending", 1)
    assert (waiting["responseStatus"], waiting["error"]) == (503, "answered 503")
    await desk.retry(seconds=3)
    await desk.retry(seconds=31)
    hooks.status = 200
    await desk.retry(seconds=121)
    assert len(hooks.received) == 4
    assert len({received.id for received in hooks.received}) == 1
    await desk.retry(hours=1)
    assert len(hooks.received) == 4


async def test_a_message_is_dropped_after_ten_attempts(desk: Desk, hooks: HookServer) -> None:
    hooks.status = 500
    await desk.watch(hooks.url)
    await desk.fail()
    await desk.work()
    [alert] = await desk.person.data("GET", "/spans/alerts")
    await desk.person.data("PUT", f"/spans/alerts/{alert['id']}/acknowledge", json={})
    for _ in range(12):
        await desk.retry(hours=9)
    assert len(hooks.received) == 10
    [given_up] = await desk.person.data("GET", "/events/deliveries", params={"status": "failed"})
    assert (given_up["attempts"], given_up["nextAttemptAt"]) == (10, None)


async def test_events_go_to_the_webhooks_that_subscribe_to_them(
    desk: Desk, hooks: HookServer
) -> None:
    body = {"url": hooks.url, "types": ["key.revoked", "alert.triggered"]}
    made = await desk.person.data("POST", "/events/webhooks", json=body)
    assert made["secret"].startswith("whsec_")
    [listed] = await desk.person.data("GET", "/events/webhooks")
    assert "secret" not in listed
    key = await desk.person.new_key()
    await desk.person.data("PUT", f"/keys/{key['id']}/refresh", json={})
    await desk.person.data("POST", f"/keys/{key['id']}/revoke")
    await desk.work(minutes=5)
    [received] = hooks.accepted
    assert Webhook(made["secret"]).verify(received.body, received.headers)
    assert received.json["type"] == "key.revoked"
    assert received.json["data"]["subject"] == key["id"]
    path = f"/events/webhooks/{made['id']}"
    [sent] = await desk.person.data("GET", f"{path}/deliveries")
    assert (sent["status"], sent["responseStatus"], sent["type"]) == (
        "delivered",
        200,
        "key.revoked",
    )
    types = [event["type"] for event in await desk.person.data("GET", "/events")]
    assert types == ["key.revoked", "key.rotated"]
    only = await desk.person.data("GET", "/events", params={"type": "key.rotated"})
    assert [event["subject"] for event in only] == [key["id"]]
    await desk.person.data("DELETE", path)
    assert_error(await desk.person.call("GET", f"{path}/deliveries"), 404)


async def test_a_test_message_returns_its_outcome(desk: Desk, hooks: HookServer) -> None:
    made = await desk.person.data("POST", "/events/webhooks", json={"url": hooks.url})
    path = f"/events/webhooks/{made['id']}/test"
    sent = await desk.person.data("POST", path)
    assert (sent["type"], sent["status"]) == ("webhook.test", "delivered")
    assert hooks.accepted[0].json["data"] == {"webhookId": made["id"]}
    hooks.status = 418
    failed = await desk.person.data("POST", path)
    assert (failed["status"], failed["error"]) == ("pending", "answered 418")
    stranger = await desk.service.sign_up()
    assert_error(await stranger.call("POST", path), 404)
    assert await stranger.data("GET", "/events/deliveries") == []


async def test_private_addresses_are_refused_unless_allowed(
    service: Service, hooks: HookServer
) -> None:
    ann = await service.sign_up()
    for url in (hooks.url, "http://10.0.0.1/", "ftp://example.com/", "nonsense"):
        refused = await ann.call("POST", "/events/webhooks", json={"url": url})
        assert_error(refused, 400, "url")
    assert await ann.data("GET", "/events/webhooks") == []
    assert hooks.received == []
    odd = await ann.call("POST", "/events/webhooks", json={"url": hooks.url, "types": ["odd"]})
    assert_error(odd, 400, "types.0")
