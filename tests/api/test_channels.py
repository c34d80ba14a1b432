"""Notifications to Slack, Microsoft Teams and PagerDuty: their formats, secrets and tests."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from support.alerting import UNDISTURBED, forget_alerting
from support.clock import Clock
from support.receivers import HookServer, Received, hook_server
from support.service import Person, Service, assert_error, start_service
from support.traces import make_span, send_traces

RULE = {
    "id": "errors",
    "name": "Too many",
    "metric": "errorRate",
    "condition": "above",
    "threshold": 0.5,
    "severity": "critical",
}
KEY = "R0123456789abcdef0123456789abcde"


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    with hook_server() as server:
        yield server


class Desk:
    """A user whose rules notify channels, and the clock of the rule evaluation."""

    def __init__(self, service: Service, person: Person, clock: Clock) -> None:
        self.service = service
        self.person = person
        self.clock = clock

    async def watch(self, *channels: dict[str, Any]) -> list[dict[str, Any]]:
        """Notify these channels of alerts of the agent; returns them as they are shown."""
        await self.person.call("POST", "/agents", json={"name": "plan <b> & co"})
        body = {"rules": [RULE], "notify": {"channels": list(channels)}}
        await self.person.data("PUT", "/agents/plan <b> & co/alerts", json=body)
        agent = await self.person.data("GET", "/agents/plan <b> & co")
        shown: list[dict[str, Any]] = agent["alertSettings"]["notify"]["channels"]
        return shown

    async def work(self, **by: float) -> None:
        """Advance the clock, evaluate and send."""
        self.clock.turn(**by)
        await self.service.services.alerting.alert_jobs.evaluate()
        await self.service.services.alerting.alert_jobs.send()

    async def raise_alert(self) -> dict[str, Any]:
        start = self.clock.now - timedelta(seconds=1)
        await send_traces(self.person, [make_span("plan <b> & co", start=start, status="error")])
        await self.work()
        [alert] = await self.person.data("GET", "/spans/alerts")
        found: dict[str, Any] = alert
        return found

    async def resolve(self) -> None:
        await self.person.data("PUT", "/agents/plan <b> & co/alerts", json={"rules": []})
        await self.work(minutes=1)


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
async def running(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None, clock: Clock
) -> AsyncIterator[Service]:
    settings = {"allow_private_webhooks": True, **UNDISTURBED}
    async with start_service(tmp_path_factory.mktemp("channels"), clock, **settings) as service:
        yield service


@pytest.fixture
async def desk(running: Service, clock: Clock) -> AsyncIterator[Desk]:
    yield Desk(running, await running.sign_up(), clock)
    await forget_alerting(running, clock)


@dataclass
class Story:
    """An alert that was repeated and resolved, and what each channel received about it."""

    alert: dict[str, Any]
    received: dict[str, list[Received]]
    deliveries: list[dict[str, Any]]


@pytest.fixture(scope="module")
async def story(running: Service, clock: Clock) -> Story:
    desk = Desk(running, await running.sign_up(), clock)
    with hook_server() as hooks:
        hooks.status = 202
        await desk.watch(
            {"type": "slack", "url": f"{hooks.url}/slack"},
            {"type": "teams", "url": f"{hooks.url}/teams"},
            {"type": "pagerduty", "routingKey": KEY, "url": f"{hooks.url}/pagerduty"},
        )
        alert = await desk.raise_alert()
        await desk.work(hours=5)
        await desk.resolve()
        deliveries = await desk.person.data("GET", "/events/deliveries")
    await forget_alerting(running, clock)
    received: dict[str, list[Received]] = {}
    for message in hooks.received:
        received.setdefault(message.path.rpartition("/")[2], []).append(message)
    return Story(alert, received, deliveries)


def link_of(alert: dict[str, Any]) -> str:
    return f"http://127.0.0.1:8787/alerts?alert={alert['id']}"


async def test_slack_gets_blocks_with_title_value_threshold_and_link(story: Story) -> None:
    message, repeated, resolved = story.received["slack"]
    assert message.headers["content-type"] == "application/json"
    assert message.json["text"] == (
        "Triggered: plan &lt;b&gt; &amp; co: error rate 100.0% is above 50.0%"
    )
    header, facts, text = message.json["blocks"]
    assert header == {
        "type": "header",
        "text": {
            "type": "plain_text",
            "text": "Triggered: plan <b> & co: error rate 100.0% is above 50.0%",
        },
    }
    assert facts["type"] == "section"
    assert {"type": "mrkdwn", "text": "*Value*\n100.0%"} in facts["fields"]
    assert {"type": "mrkdwn", "text": "*Threshold*\nabove 50.0%"} in facts["fields"]
    assert {"type": "mrkdwn", "text": "*Agent*\nplan &lt;b&gt; &amp; co"} in facts["fields"]
    assert text["text"]["type"] == "mrkdwn"
    assert text["text"]["text"].endswith(f"<{link_of(story.alert)}|Open the alert>")
    assert repeated.json["text"].startswith("Still active: ")
    assert resolved.json["text"].startswith("Resolved: ")


async def test_teams_gets_an_adaptive_card(story: Story) -> None:
    message = story.received["teams"][0]
    assert message.json["type"] == "message"
    [attachment] = message.json["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    lines = [line["inlines"] for line in card["body"]]
    texts = ["".join(run["text"] for run in runs) for runs in lines]
    assert texts[:3] == [
        "Triggered: plan <b> & co: error rate 100.0% is above 50.0%",
        "Value: 100.0%",
        "Threshold: above 50.0%",
    ]
    assert lines[0][0]["color"] == "Attention"
    [action] = card["actions"]
    assert (action["type"], action["url"]) == ("Action.OpenUrl", link_of(story.alert))
    answers = {(one["status"], one["responseStatus"]) for one in story.deliveries}
    assert answers == {("delivered", 202)}


async def test_pagerduty_is_triggered_and_resolved_with_one_key(story: Story) -> None:
    alert = story.alert
    # No reminder: the service escalates by itself.
    triggered, resolved = story.received["pagerduty"]
    event = triggered.json
    assert (event["routing_key"], event["event_action"]) == (KEY, "trigger")
    assert event["dedup_key"] == alert["id"]
    assert event["payload"]["summary"] == alert["title"]
    assert (event["payload"]["source"], event["payload"]["severity"]) == (
        "plan <b> & co",
        "critical",
    )
    assert event["payload"]["timestamp"] == alert["triggeredAt"]
    assert event["payload"]["custom_details"]["Value"] == "100.0%"
    assert event["links"] == [{"href": link_of(alert), "text": "Open the alert"}]
    assert resolved.json == {
        "routing_key": KEY,
        "event_action": "resolve",
        "dedup_key": alert["id"],
    }


async def test_secrets_of_channels_are_masked_and_kept(desk: Desk, hooks: HookServer) -> None:
    secret = f"{hooks.url}/T000/B000/XXXXXXXXXXXXXXXXXXXXwxyz"
    shown = await desk.watch(
        {"type": "slack", "url": secret}, {"type": "pagerduty", "routingKey": KEY}
    )
    assert [one["id"][:4] for one in shown] == ["chn_", "chn_"]
    assert shown[0]["url"] == f"http://127.0.0.1:{hooks.port}/…wxyz"
    assert (shown[1]["routingKey"], shown[1]["url"]) == ("…bcde", None)
    # What is shown can be sent back.
    again = await desk.watch(shown[0])
    assert again == [shown[0]]
    await desk.raise_alert()
    assert [one.path for one in hooks.received] == ["/hook/T000/B000/XXXXXXXXXXXXXXXXXXXXwxyz"]
    [delivery] = await desk.person.data("GET", "/events/deliveries")
    assert (delivery["channel"], delivery["target"]) == ("slack", shown[0]["url"])
    assert secret not in (await desk.person.call("GET", "/agents")).text
    body: dict[str, Any] = {"enabled": True}
    changed = await desk.person.call("PUT", "/agents/plan <b> & co/alerts", json=body)
    assert secret not in changed.text


async def test_a_stored_key_is_not_sent_to_another_address(desk: Desk, hooks: HookServer) -> None:
    saved = {"type": "pagerduty", "routingKey": KEY}
    [shown] = await desk.watch(saved)
    thief = {**shown, "url": hooks.url}
    without_key = {name: value for name, value in thief.items() if name != "routingKey"}
    for stolen in (thief, without_key):
        path = "/agents/plan <b> & co/alerts"
        assert_error(await desk.person.call("POST", f"{path}/test", json=stolen), 400, "routingKey")
        body = {"notify": {"channels": [stolen]}}
        response = await desk.person.call("PUT", path, json=body)
        assert_error(response, 400, "notify.channels.0.routingKey")
    assert hooks.received == []
    # With its key, the channel may move.
    [moved] = await desk.watch({**thief, "routingKey": KEY})
    assert (moved["id"], moved["url"]) == (shown["id"], hooks.url)


async def test_a_channel_that_fails_is_retried(desk: Desk, hooks: HookServer) -> None:
    hooks.status, hooks.answer = 500, b"try again"
    await desk.watch({"type": "slack", "url": hooks.url})
    await desk.raise_alert()
    [delivery] = await desk.person.data("GET", "/events/deliveries")
    assert (delivery["status"], delivery["error"], delivery["response"]) == (
        "pending",
        "answered 500",
        "try again",
    )
    hooks.status = 200
    await desk.work(seconds=10)
    [delivery] = await desk.person.data("GET", "/events/deliveries")
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 2)


async def test_a_test_shows_what_the_other_side_answered(desk: Desk, hooks: HookServer) -> None:
    hooks.status, hooks.answer = 400, b"invalid_token"
    [shown] = await desk.watch({"type": "slack", "url": hooks.url})
    path = "/agents/plan <b> & co/alerts/test"
    delivery = await desk.person.data("POST", path, json=shown)
    assert (delivery["type"], delivery["status"]) == ("alert.test", "failed")
    assert (delivery["responseStatus"], delivery["response"]) == (400, "invalid_token")
    # A test is not repeated.
    await desk.work(minutes=10)
    assert len(hooks.received) == 1
    hooks.status, hooks.answer = 202, b'{"status":"success"}'
    unsaved = {"type": "pagerduty", "routingKey": KEY, "url": hooks.url}
    delivery = await desk.person.data("POST", "/alerts/test", json=unsaved)
    assert (delivery["status"], delivery["response"]) == ("delivered", '{"status":"success"}')
    assert hooks.received[-1].json["payload"]["summary"] == "Notifications of Spanwise arrive here"


INCOMPLETE_OR_PRIVATE = [
    ({"type": "slack"}, "url"),
    ({"type": "teams", "url": "http://x/…abcd"}, "url"),
    ({"type": "pagerduty", "url": "https://events.eu.pagerduty.com/v2/enqueue"}, "routingKey"),
    ({"type": "slack", "url": "http://127.0.0.1/hook"}, "url"),
    ({"type": "pagerduty", "routingKey": KEY, "url": "http://10.0.0.1/"}, "url"),
    # Only the secret of a chat is shown shortened, so these are not what was shown.
    ({"type": "pagerduty", "routingKey": KEY, "url": "file:///etc/passwd…"}, "url"),
    ({"type": "pagerduty", "routingKey": KEY, "url": "http://127.0.0.1:22/…"}, "url"),
]


async def test_an_incomplete_or_private_channel_is_rejected(person: Person) -> None:
    for channel, field in INCOMPLETE_OR_PRIVATE:
        body = {"notify": {"channels": [channel]}}
        response = await person.call("PUT", "/alerts/settings", json=body)
        assert_error(response, 400, f"notify.channels.0.{field}")
        assert_error(await person.call("POST", "/alerts/test", json=channel), 400, field)


async def test_a_shortened_webhook_is_rejected(person: Person) -> None:
    body = {"notify": {"webhooks": [{"url": "http://127.0.0.1:22/…"}]}}
    response = await person.call("PUT", "/alerts/settings", json=body)
    assert_error(response, 400, "notify.webhooks.0.url")


async def test_a_test_reaches_mail_and_webhooks(desk: Desk, hooks: HookServer) -> None:
    body = {"notify": {"webhooks": [{"url": hooks.url}]}}
    saved = await desk.person.data("PUT", "/alerts/settings", json=body)
    [webhook] = saved["notify"]["webhooks"]
    delivery = await desk.person.data(
        "POST", "/alerts/test", json={"type": "webhook", "url": hooks.url}
    )
    assert (delivery["status"], delivery["responseStatus"]) == ("delivered", 200)
    [message] = hooks.received
    # Signed with the secret of the saved webhook.
    signed = Webhook(webhook["secret"]).verify(message.body, message.headers)
    assert signed["type"] == "alert.test"
    mail = {"type": "mail", "email": "oncall@example.com"}
    delivery = await desk.person.data("POST", "/alerts/test", json=mail)
    assert (delivery["status"], delivery["target"]) == ("delivered", "oncall@example.com")
    [text] = await desk.service.mails_to("oncall@example.com")
    assert "Notifications of Spanwise arrive here" in text


async def test_the_secret_of_a_webhook_stays_with_its_url(desk: Desk, hooks: HookServer) -> None:
    body = {"notify": {"webhooks": [{"url": "http://127.0.0.1:9/saved"}]}}
    saved = await desk.person.data("PUT", "/alerts/settings", json=body)
    [webhook] = saved["notify"]["webhooks"]
    thief = {"type": "webhook", "url": hooks.url}
    await desk.person.data("POST", "/alerts/test", json=thief)
    [message] = hooks.received
    with pytest.raises(WebhookVerificationError):
        Webhook(webhook["secret"]).verify(message.body, message.headers)
    body = {"notify": {"webhooks": [{"url": hooks.url}]}}
    moved = await desk.person.data("PUT", "/alerts/settings", json=body)
    assert moved["notify"]["webhooks"][0]["secret"] != webhook["secret"]


async def test_an_incomplete_or_private_receiver_of_a_test_is_rejected(person: Person) -> None:
    for receiver, field in (
        ({"type": "mail"}, "email"),
        ({"type": "mail", "email": "nobody"}, "email"),
        ({"type": "webhook"}, "url"),
        ({"type": "webhook", "url": "http://10.0.0.1/"}, "url"),
        ({"type": "webhook", "url": "file:///etc/passwd…"}, "url"),
        ({"type": "fax"}, "type"),
    ):
        assert_error(await person.call("POST", "/alerts/test", json=receiver), 400, field)
