"""What the recorded apps share: one question, one tool."""

from __future__ import annotations

QUESTION = "What is the weather in Paris?"
SYSTEM = "You are a helpful weather assistant."
TOOL_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": TOOL_SCHEMA,
    },
}


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"18 degrees and sunny in {city}"
