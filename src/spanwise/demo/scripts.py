"""Scripted conversations: questions of users, tool calls and answers of agents.

Placeholders such as `{order}` are filled once per conversation, so that all turns agree.
"""

import re
from collections.abc import Mapping
from typing import Any

from spanwise.demo.data import FromData

_SLOT = re.compile(r"\{(\w+)\}")


class Call(FromData):
    """One tool call, with its result on success."""

    tool: str
    arguments: dict[str, Any]
    result: Any


class Exchange(FromData):
    """One question and its answer; the calls of a round run in parallel."""

    question: str
    rounds: tuple[tuple[Call, ...], ...] = ()
    answer: str


class Script(FromData):
    """A conversation; sessions may end after any of its exchanges."""

    topic: str
    exchanges: tuple[Exchange, ...]


def fill_slots(value: Any, slots: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- JSON of any shape
    """Fill the placeholders in every string of a JSON value.

    A string that is nothing but a placeholder becomes what fills it, which may be a number.
    """
    if isinstance(value, str):
        if whole := _SLOT.fullmatch(value):
            return slots.get(whole[1], value)
        return _SLOT.sub(lambda found: str(slots.get(found[1], found[0])), value)
    if isinstance(value, dict):
        return {name: fill_slots(item, slots) for name, item in value.items()}
    if isinstance(value, list):
        return [fill_slots(item, slots) for item in value]
    return value
