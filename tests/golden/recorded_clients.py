"""Golden exports beside their expectations: what was returned, sent and is expected."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Json = dict[str, Any]

FOLDER = Path(__file__).parent
TOKENS = ("inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens")
CALL_KINDS = ("llm", "embedding")
# Values that the recorded programs set.
SESSION = re.compile(r"(session|sess|thread|conv)-[\w-]+")
USER = re.compile(r"user-7|u-7")
AGENT = re.compile(r"weather[_-]agent|greeter|Greeter|Weather reporter|claude-agent")
# Names under which a count of tokens of a class is sent.
NAMES = {
    "inputTokens": re.compile(r"(?i)input|prompt"),
    "outputTokens": re.compile(r"(?i)output|completion|candidates"),
    "cachedTokens": re.compile(r"(?i)cache"),
    "cacheWriteTokens": re.compile(r"(?i)creation|write"),
    "reasoningTokens": re.compile(r"(?i)reasoning|thought|thinking"),
}
# List prices in US dollars for a million tokens: input, cached input, cache write, output.
PRICES = {
    "anthropic.claude-sonnet-4-5": (3.3, 0.33, 4.125, 16.5),
    "claude-sonnet-4-5": (3.0, 0.3, 3.75, 15.0),
    "gemini-2.5-flash": (0.3, 0.03, 0.0, 2.5),
    "gpt-4o-mini": (0.15, 0.075, 0.0, 0.6),
    "gpt-5-codex": (1.25, 0.125, 0.0, 10.0),
    "gpt-5-mini": (0.25, 0.025, 0.0, 2.0),
    "llama-3.3-70b-versatile": (0.59, 0.59, 0.0, 0.79),
    "mistral-small-latest": (0.15, 0.15, 0.0, 0.6),
    "text-embedding-3-small": (0.02, 0.02, 0.0, 0.0),
}
# What the model servers of the recordings without a list of calls returned: input, output, cached,
# written to the cache, reasoning.
_OPENAI: list[tuple[int, ...]] = [
    (120, 30, 64, 0, 12),
    (180, 42, 128, 0, 16),
    (1200, 150, 1024, 0, 64),
]
_CLAUDE: list[tuple[int, ...]] = [(1084, 35, 0, 1024, 0), (1114, 48, 1024, 0, 0)]
_CLAUDE += [(1636, 150, 1024, 512, 0), (6536, 150, 1024, 512, 0)]
RETURNED: dict[str, list[tuple[int, ...]]] = {
    "gpt": _OPENAI,
    "claude": _CLAUDE,
    "gemini": _OPENAI,
    "text-embedding": [(8, 0, 0, 0, 0), (16, 0, 0, 0, 0), (500, 0, 0, 0, 0)],
}


@dataclass(frozen=True)
class Export:
    """A golden export with its expectation."""

    name: str

    @cached_property
    def expected(self) -> Json:
        loaded: Json = json.loads((FOLDER / f"{self.name}.expected.json").read_text())
        return loaded

    @cached_property
    def recording(self) -> Json:
        path = FOLDER / f"{self.name}.recording.json"
        return json.loads(path.read_text()) if path.exists() else {}

    @property
    def spans(self) -> list[Json]:
        spans: list[Json] = self.expected.get("spans", [])
        return spans

    @property
    def traces(self) -> list[Json]:
        traces: list[Json] = self.expected.get("traces", [])
        return traces

    @property
    def calls(self) -> list[Json]:
        """Spans of successful calls, each call once."""
        return [s for s in self.spans if is_call(s) and s.get("usageCounted", True)]

    @cached_property
    def sent(self) -> dict[str, list[tuple[str, Any]]]:
        """The values in the attributes of each span, with their names."""
        path = FOLDER / f"{self.name}.traces.json"
        document = json.loads(path.read_text()) if path.exists() else {"resourceSpans": []}
        return {
            span["spanId"]: list(_span_values(span))
            for resource in document["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        }

    @property
    def names_an_agent(self) -> bool:
        """Return whether an agent has a name of its own, not that of the service."""
        return any(
            name not in self.services
            for name in (item["agentName"] for item in [*self.spans, *self.traces])
        )

    @cached_property
    def services(self) -> set[str]:
        return {
            _plain(pair["value"])
            for path in FOLDER.glob(f"{self.name}.*s.json")
            for resources in json.loads(path.read_text()).values()
            for resource in resources
            for pair in resource.get("resource", {}).get("attributes", [])
            if pair["key"] == "service.name"
        }

    def has_sent(self, name: str, value: re.Pattern[str]) -> bool:
        """Return whether an attribute of such a name has such a text."""
        pairs = (pair for values in self.sent.values() for pair in values)
        return any(
            name in key.lower() and isinstance(text, str) and value.fullmatch(text)
            for key, text in pairs
        )

    def find_fitting(self, span: Mapping[str, Any]) -> Json:
        """Return the usage that the server returned for a call."""
        shown = {name: span[name] for name in TOKENS if span[name]}
        fitting = [call for call in self.returned(span) if shown.items() <= call.items()]
        # The one with the least besides what is shown.
        return min(fitting, key=lambda call: sum(map(bool, call.values())), default={})

    def find_omitted(self) -> dict[str, list[str]]:
        """Return the token classes that the server returned and a span does not show."""
        found = {}
        for span in self.calls:
            if not any(span[name] for name in TOKENS) and self.has_usage:
                continue
            call = self.find_fitting(span)
            if omitted := [name for name in TOKENS if call.get(name) and not span[name]]:
                found[span["spanId"]] = omitted
        return found

    @property
    def has_usage(self) -> bool:
        return any(span[name] for span in self.calls for name in TOKENS)

    def returned(self, span: Mapping[str, Any]) -> list[Json]:
        """Return the usage that the server may have returned for a call."""
        if self.recording:
            same = [c for c in self.recording["calls"] if is_same_model(c["model"], span["model"])]
            return [{name: call[name] for name in TOKENS} for call in same]
        prefix = next((p for p in RETURNED if str(span["model"]).startswith(p)), "")
        return [dict(zip(TOKENS, counts, strict=True)) for counts in RETURNED.get(prefix, [])]


def is_call(span: Mapping[str, Any]) -> bool:
    is_counted = span["kind"] in CALL_KINDS and span.get("countedIn") is None
    return is_counted and span["status"] != "error" and "inputTokens" in span


def is_same_model(returned: str, shown: str | None) -> bool:
    """Return whether the names are the same but for the date of the version."""
    return shown is not None and (returned == shown or returned.startswith(f"{shown}-2"))


def find_omitted(name: str, expected: Json) -> dict[str, list[str]]:
    export = Export(name)
    export.__dict__["expected"] = expected
    return export.find_omitted()


def _span_values(span: Json) -> Iterator[tuple[str, Any]]:
    for pair in span.get("attributes", []):
        yield from _values(pair["key"], _plain(pair["value"]))
    for event in span.get("events", []):
        for pair in event.get("attributes", []):
            yield from _values(pair["key"], _plain(pair["value"]))


def _plain(value: Json) -> Any:
    for kind, inner in value.items():
        if kind == "arrayValue":
            return [_plain(item) for item in inner.get("values", [])]
        if kind == "kvlistValue":
            return {pair["key"]: _plain(pair["value"]) for pair in inner.get("values", [])}
        return int(inner) if kind == "intValue" else inner
    return None


def _values(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values in an attribute, also those inside JSON."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            value = json.loads(value)
        except ValueError:
            yield path, value
            return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _values(f"{path}.{name}", inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(path, inner)
    else:
        yield path, value


def price(model: str | None, usage: Mapping[str, int]) -> float | None:
    """Return the cost of a call in US dollars; None for a model that is not in the list."""
    prices = next((p for name, p in PRICES.items() if str(model).startswith(name)), None)
    if prices is None or not usage:
        return None
    whole, cached, written, output = prices
    plain = usage["inputTokens"] - usage["cachedTokens"] - usage["cacheWriteTokens"]
    return (
        plain * whole
        + usage["cachedTokens"] * cached
        + usage["cacheWriteTokens"] * written
        + usage["outputTokens"] * output
    ) / 1e6
