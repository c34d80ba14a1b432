"""Spanwise, measured like its peers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.load import PATH
from bench.payload import SPANS_PER_TRACE
from bench.peers.product import LIST_SIZE, Answer, Period, Product, Question, Request, Running
from bench.service import free_port, run_service
from spanwise import __version__


class Spanwise(Product):
    name = "Spanwise"
    version = __version__

    @contextmanager
    def run(self, folder: Path) -> Iterator[Running]:
        port = free_port()
        with run_service(folder, port) as service:
            headers = {"x-api-key": service.key}
            pid, start_seconds = service.process.pid, service.start_seconds
            yield Running(pid, port, start_seconds, service.http, PATH, headers)

    def count_spans(self) -> Question:
        # Waits for all that was acknowledged; by default, a read waits for its own caller only.
        headers = {"Cache-Control": "no-cache"}
        request = Request("/spans/traces", {"limit": 1}, headers=headers)
        return Question([request], _parse_span_count)

    def list_traces(self) -> Question:
        return Question([Request("/spans/traces", {"limit": LIST_SIZE})], _parse_list)

    def read_trace(self, trace_id: str) -> Question:
        return Question([Request(f"/spans/traces/{trace_id}")], _parse_trace)

    def summarize(self, period: Period) -> Question:
        return Question([Request("/analytics/metrics", _format_period(period))], _parse_summary)

    def count_per_hour(self, period: Period) -> Question:
        query = {**_format_period(period), "granularity": "hourly"}
        return Question([Request("/analytics/traces/success-failure", query)], _parse_series)

    def search(self, word: str) -> Question:
        query = {"search": word, "limit": LIST_SIZE}
        return Question([Request("/spans/traces", query)], _parse_list)


def _format_period(period: Period) -> dict[str, str]:
    return {"startDate": period.start.isoformat(), "endDate": period.end.isoformat()}


def _parse_span_count(pages: list[Any]) -> Answer:
    return {"spans": pages[0]["pagination"]["total"] * SPANS_PER_TRACE}


def _parse_list(pages: list[Any]) -> Answer:
    return {"traces": len(pages[0]["data"])}


def _parse_trace(responses: list[Any]) -> Answer:
    return {"spans": len(responses[0]["data"]["spans"])}


def _parse_summary(responses: list[Any]) -> Answer:
    data = responses[0]["data"]
    traces = data["totalTraces"]
    errors = round(traces * (1 - data["successRate"]))
    return {"traces": traces, "errors": errors, "tokens": data["totalTokens"]}


def _parse_series(responses: list[Any]) -> Answer:
    hours = responses[0]["data"]["trend"]
    errors = sum(hour["failure"] for hour in hours)
    return {"traces": errors + sum(hour["success"] for hour in hours), "errors": errors}
