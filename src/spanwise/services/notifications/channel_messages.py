"""Messages about an alert in the formats of Slack, Microsoft Teams and PagerDuty."""

from typing import Any

from spanwise.model.alerts import Alert, ChannelType, Condition, NotifyChannel, Severity
from spanwise.model.events import EventType
from spanwise.services.notifications.alert_notifications import LABELS
from spanwise.services.notifications.alert_texts import format_apart, format_value

PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue"
# Limits of the receivers, in characters.
_SLACK_HEADER = 150
_PAGERDUTY_SUMMARY = 1024
_TEAMS_COLOURS = {
    Severity.CRITICAL: "Attention",
    Severity.WARNING: "Warning",
    Severity.INFO: "Accent",
}


def write_channel_message(
    content: dict[str, Any], public_address: str
) -> tuple[str, dict[str, Any]]:
    """Return the address and the body of a message in the outbox."""
    channel = NotifyChannel.model_validate(content["channel"])
    event = content["event"]
    alert, transition = Alert.model_validate(event["data"]), event["type"]
    link = f"{public_address}/alerts?alert={alert.id}"
    match channel.type:
        case ChannelType.SLACK:
            return channel.url or "", _write_slack(alert, transition, link)
        case ChannelType.TEAMS:
            return channel.url or "", _write_teams(alert, transition, link)
        case ChannelType.PAGERDUTY:
            body = _write_pagerduty(alert, transition, link, channel.routing_key or "")
            return channel.url or PAGERDUTY_URL, body


def _facts(alert: Alert) -> dict[str, str]:
    is_anomaly = alert.condition is Condition.ANOMALY
    usual = alert.baseline if is_anomaly else alert.threshold or 0.0
    if usual is None:
        facts = {"Value": format_value(alert, alert.value)}
    else:
        value, limit = format_apart(alert, alert.value, usual)
        other = {"Usually": limit} if is_anomaly else {"Threshold": f"{alert.condition} {limit}"}
        facts = {"Value": value, **other}
    return {**facts, "Severity": alert.severity, "Agent": alert.agent_name}


def _write_slack(alert: Alert, transition: str, link: str) -> dict[str, Any]:
    title = f"{LABELS[transition]}: {alert.title}"
    fields = [
        {"type": "mrkdwn", "text": f"*{name}*\n{_escape(value)}"}
        for name, value in _facts(alert).items()
    ]
    return {
        # Shown in notifications, where there are no blocks.
        "text": _escape(title),
        "blocks": [
            {
                "type": "header",
                "text": {"type": "plain_text", "text": _shorten(title, _SLACK_HEADER)},
            },
            {"type": "section", "fields": fields},
            {
                "type": "section",
                "text": {
                    "type": "mrkdwn",
                    "text": f"{_escape(alert.description)}\n<{link}|Open the alert>",
                },
            },
        ],
    }


def _escape(text: str) -> str:
    """Escape the three characters that control Slack's markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _write_teams(alert: Alert, transition: str, link: str) -> dict[str, Any]:
    is_resolved = transition == EventType.ALERT_RESOLVED
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            _write_line(
                {
                    "text": f"{LABELS[transition]}: {alert.title}",
                    "size": "Medium",
                    "weight": "Bolder",
                    "color": "Good" if is_resolved else _TEAMS_COLOURS[alert.severity],
                }
            ),
            *(
                _write_line({"text": f"{name}: ", "weight": "Bolder"}, {"text": value})
                for name, value in _facts(alert).items()
            ),
            _write_line({"text": alert.description}),
        ],
        "actions": [{"type": "Action.OpenUrl", "title": "Open the alert", "url": link}],
    }
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}


def _write_line(*runs: dict[str, str]) -> dict[str, Any]:
    """Write a line of plain text; a `TextBlock` or `FactSet` would read it as Markdown.

    Names of agents and failures come from telemetry, and must not become links.
    """
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", **run} for run in runs]}


def _write_pagerduty(alert: Alert, transition: str, link: str, routing_key: str) -> dict[str, Any]:
    """An event of the Events API v2; alerts are the deduplication keys of incidents."""
    event: dict[str, Any] = {"routing_key": routing_key, "dedup_key": alert.id}
    if transition == EventType.ALERT_RESOLVED:
        return {**event, "event_action": "resolve"}
    return {
        **event,
        "event_action": "trigger",
        "client": "Spanwise",
        "client_url": link,
        "links": [{"href": link, "text": "Open the alert"}],
        "payload": {
            "summary": _shorten(alert.title, _PAGERDUTY_SUMMARY),
            "source": alert.agent_name,
            "severity": alert.severity,
            "timestamp": alert.model_dump(mode="json")["triggeredAt"],
            "class": alert.measure or alert.metric,
            "custom_details": {**_facts(alert), "Description": alert.description},
        },
    }


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
