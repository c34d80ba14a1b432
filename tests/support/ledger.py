"""Computes the expected traces in plain Python from the spans that were sent."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

USAGE_KINDS = {"llm", "embedding", "rerank"}


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def repeated_calls(calls: list[dict[str, Any]]) -> set[str]:
    """Return the ids of `llm` spans that repeat the call of the one above or below them."""
    llms = {call["spanId"]: call for call in calls if call["kind"] == "llm"}
    repeated = set()
    for outer_id, outer in llms.items():
        inner = [call for call in llms.values() if call["parentSpanId"] == outer_id]
        total = sum(call["inputTokens"] for call in inner)
        if inner and outer["inputTokens"] >= total:
            repeated |= {call["spanId"] for call in inner}
        elif inner:
            repeated.add(outer_id)
    return repeated


@dataclass
class Ledger:
    """The latest version of every span; prices are dollars per million input tokens."""

    prices: dict[str, float] = field(default_factory=dict)
    spans: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def take(self, spans: Iterable[dict[str, Any]]) -> None:
        for span in spans:
            self.spans[span["traceId"], span["spanId"]] = span

    def trace_ids(self) -> set[str]:
        return {trace_id for trace_id, _ in self.spans}

    def of_trace(self, trace_id: str) -> list[dict[str, Any]]:
        return [span for (owner, _), span in self.spans.items() if owner == trace_id]

    def cost(self, span: dict[str, Any]) -> float:
        if span.get("cost"):
            return float(span["cost"])
        return float(span.get("inputTokens", 0) * self.prices.get(span.get("model", ""), 0) / 1e6)

    def trace(self, trace_id: str) -> dict[str, Any] | None:
        """Return the expected row of a trace; None without a root span."""
        spans = self.of_trace(trace_id)
        roots = [span for span in spans if not span["parentSpanId"]]
        if not roots:
            return None
        root = min(roots, key=lambda span: moment(span["startTime"]))
        calls = [span for span in spans if span["kind"] in USAGE_KINDS]
        counted = [call for call in calls if call["spanId"] not in repeated_calls(calls)]
        has_failed = all(call["status"] == "error" for call in calls) and bool(calls)
        # Several roots last from the first start to the last end.
        end = max(moment(span["endTime"]) for span in (spans if len(roots) > 1 else [root]))
        duration = end - moment(root["startTime"])
        is_error = root["status"] == "error" or (root["status"] == "unset" and has_failed)
        return {
            "traceId": trace_id,
            "name": root["name"],
            "status": "error" if is_error else "success",
            "durationMs": duration / timedelta(milliseconds=1),
            "spanCount": len(spans),
            "errorCount": sum(span["status"] == "error" for span in spans),
            "inputTokens": sum(span.get("inputTokens", 0) for span in counted),
            "outputTokens": sum(span.get("outputTokens", 0) for span in counted),
            "cost": round(sum(self.cost(span) for span in counted), 9),
            "models": sorted({span["model"] for span in counted if span.get("model")}),
            "tools": sorted({span["toolName"] for span in spans if span.get("toolName")}),
        }

    def traces(self) -> list[dict[str, Any]]:
        """Return the expected rows of the trace list, by id."""
        rows = (self.trace(trace_id) for trace_id in sorted(self.trace_ids()))
        return [row for row in rows if row is not None]

    def details(self, trace_id: str) -> dict[str, tuple[Any, ...]]:
        """Return the expected fields of each span in the trace detail."""
        return {
            span["spanId"]: (
                span["name"],
                span["kind"],
                span["status"],
                span["parentSpanId"],
                span.get("inputTokens", 0),
                round(self.cost(span), 9) if span["kind"] in USAGE_KINDS else None,
            )
            for span in self.of_trace(trace_id)
        }


def read_trace(row: dict[str, Any]) -> dict[str, Any]:
    """Convert a row of the API's list to the ledger's form."""
    names = (
        *("traceId", "name", "status", "durationMs", "spanCount", "errorCount"),
        *("inputTokens", "outputTokens", "cost", "models", "tools"),
    )
    read = {name: row[name] for name in names}
    return read | {
        "cost": round(row["cost"], 9),
        "models": sorted(row["models"]),
        "tools": sorted(row["tools"]),
    }


def read_details(trace: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {
        span["spanId"]: (
            span["name"],
            span["kind"],
            span["status"],
            span["parentSpanId"],
            span["inputTokens"],
            round(span["cost"], 9) if span["kind"] in USAGE_KINDS else None,
        )
        for span in trace["spans"]
    }
