"""System instructions are put before the messages."""

from typing import Any

import pytest

from spanwise.model.telemetry.conversation.messages import with_instructions

USER_MESSAGES = [{"role": "user", "parts": [{"type": "text", "content": "Why?"}]}]
INSTRUCTION = {"type": "text", "content": "Be brief."}


@pytest.mark.parametrize(
    "instructions",
    ['[{"type": "text", "content": "Be brief."}]', [INSTRUCTION], INSTRUCTION, "Be brief."],
)
def test_instructions_become_the_first_message(instructions: Any) -> None:
    messages = with_instructions(USER_MESSAGES, {"gen_ai.system_instructions": instructions})
    assert messages == [{"role": "system", "parts": [INSTRUCTION]}, *USER_MESSAGES]


@pytest.mark.parametrize(
    ("messages", "attributes"),
    [
        (USER_MESSAGES, {}),
        (USER_MESSAGES, {"gen_ai.system_instructions": ""}),
        ("plain text", {"gen_ai.system_instructions": [INSTRUCTION]}),
        (None, {"gen_ai.system_instructions": [INSTRUCTION]}),
        ([{"role": "system", "content": "x"}], {"gen_ai.system_instructions": [INSTRUCTION]}),
    ],
)
def test_other_inputs_are_unchanged(messages: Any, attributes: dict[str, Any]) -> None:
    assert with_instructions(messages, attributes) == messages


def test_a_system_prompt_among_the_parameters_comes_first() -> None:
    attributes = {"llm.invocation_parameters": '{"max_tokens": 5, "system": "Be brief."}'}
    first, *rest = with_instructions(USER_MESSAGES, attributes)
    assert first == {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]}
    assert rest == USER_MESSAGES


def test_parameters_that_are_no_object_are_ignored() -> None:
    for parameters in ('["system"]', '{"system"', '{"system": null}'):
        attributes = {"llm.invocation_parameters": parameters}
        assert with_instructions(USER_MESSAGES, attributes) == USER_MESSAGES
