"""System instructions are put before the messages."""

from typing import Any

import pytest

from spanwise.model.telemetry.messages import with_instructions

ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Why?"}]}]
TOLD = {"type": "text", "content": "Be brief."}


@pytest.mark.parametrize(
    "instructions", ['[{"type": "text", "content": "Be brief."}]', [TOLD], TOLD, "Be brief."]
)
def test_instructions_become_the_first_message(instructions: Any) -> None:
    messages = with_instructions(ASKED, {"gen_ai.system_instructions": instructions})
    assert messages == [{"role": "system", "parts": [TOLD]}, *ASKED]


@pytest.mark.parametrize(
    ("messages", "attributes"),
    [
        (ASKED, {}),
        (ASKED, {"gen_ai.system_instructions": ""}),
        ("plain text", {"gen_ai.system_instructions": [TOLD]}),
        (None, {"gen_ai.system_instructions": [TOLD]}),
        ([{"role": "system", "content": "x"}], {"gen_ai.system_instructions": [TOLD]}),
    ],
)
def test_other_inputs_stay_as_they_are(messages: Any, attributes: dict[str, Any]) -> None:
    assert with_instructions(messages, attributes) == messages
