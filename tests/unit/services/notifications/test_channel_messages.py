"""Messages of alerts for chats: what telemetry brings must not become links or markup."""

from typing import Any

import pytest

from spanwise.model.alerts import Alert, AlertMetric, AlertRule, AlertStatus, Condition, Severity
from spanwise.model.api_model import utc_now
from spanwise.services.notifications.channel_messages import write_channel_message

LINK = "[Reset your password](https://evil.example)"


@pytest.fixture
def alert() -> Alert:
    now = utc_now()
    return Alert(
        id="alr_1",
        agent_id="agt_1",
        agent_name=LINK,
        rule_id="rul_1",
        metric=AlertMetric.ERROR_RATE,
        measure=None,
        condition=Condition.ABOVE,
        severity=Severity.CRITICAL,
        status=AlertStatus.ACTIVE,
        title=f"Error rate of {LINK}",
        description=f"{LINK} <https://evil.example|click>",
        value=0.5,
        threshold=0.1,
        baseline=None,
        window_start=now,
        window_end=now,
        triggered_at=now,
        acknowledged_at=None,
        acknowledged_by=None,
        reopened_at=None,
        resolved_at=None,
        occurrences=1,
        example_trace_ids=[],
        failure_id=None,
        rule=AlertRule(metric=AlertMetric.ERROR_RATE, condition=Condition.ABOVE, threshold=0.1),
        history=[],
    )


def write(alert: Alert, kind: str) -> dict[str, Any]:
    content = {
        "channel": {"id": "chn_1", "type": kind, "url": "https://chat.example/hook"},
        "event": {"type": "alert.triggered", "data": alert.model_dump(mode="json")},
    }
    _, body = write_channel_message(content, "https://spanwise.example")
    return body


def find_elements(value: Any) -> list[dict[str, Any]]:
    """Return all objects with a type, at any depth."""
    if isinstance(value, list):
        return [found for item in value for found in find_elements(item)]
    if not isinstance(value, dict):
        return []
    own = [value] if "type" in value else []
    return own + [found for item in value.values() for found in find_elements(item)]


def test_teams_gets_no_text_of_telemetry_as_markdown(alert: Alert) -> None:
    elements = find_elements(write(alert, "teams"))
    with_link = [element for element in elements if LINK in str(element.get("text"))]
    assert len(with_link) == 3
    # Of all elements with text, these alone are not read as Markdown.
    assert {element["type"] for element in with_link} == {"TextRun"}
    assert "FactSet" not in {element["type"] for element in elements}


def test_slack_gets_the_control_characters_of_its_markup_escaped(alert: Alert) -> None:
    texts = [str(e["text"]) for e in find_elements(write(alert, "slack")) if e["type"] == "mrkdwn"]
    assert any("&lt;https://evil.example|click&gt;" in text for text in texts)
    assert not any("<https://evil.example" in text for text in texts)
