"""Arize Phoenix: REST for lists, GraphQL, as its own pages use it, for everything else."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from bench.peers.install import PHOENIX, install_peer
from bench.peers.product import LIST_SIZE, Answer, Period, Product, Question, Request, Running
from bench.peers.server import run_server
from bench.service import free_port

_PROJECT = "/v1/projects/default"
_COUNT = "recordCount"
_SUMMARY = """
    traceCount(timeRange: $time)
    tokenCountTotal(timeRange: $time)
    errorCount: traceCount(timeRange: $time, filterCondition: "status_code == 'ERROR'")"""
_SERIES = """
    traceCountByStatusTimeSeries(timeRange: $time, timeBinConfig: {scale: HOUR}) {
      data { timestamp totalCount errorCount }
    }"""
_SEARCH = """
    spans(first: %d, filterCondition: $filter, sort: {col: startTime, dir: desc}) {
      edges { node { name spanId startTime latencyMs statusCode trace { traceId } } }
    }"""


class Phoenix(Product):
    name = PHOENIX.product
    version = PHOENIX.version
    notes = (
        "Phoenix acknowledges spans before it stores them, so its acks say nothing about storage.",
        "Phoenix searches a named attribute: the input of spans, not all texts.",
    )

    @contextmanager
    def run(self, folder: Path) -> Iterator[Running]:
        commands = install_peer(PHOENIX)
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        settings = {
            "PHOENIX_WORKING_DIR": str(folder),
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(port),
            "PHOENIX_GRPC_PORT": str(free_port()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        }
        command = [commands / "phoenix", "serve"]
        with (
            run_server(str(PHOENIX), command, settings, folder, f"{url}/readyz") as (pid, seconds),
            httpx.Client(base_url=url, timeout=120) as http,
        ):
            yield Running(pid, port, seconds, http, "/v1/traces", {})

    def count_spans(self) -> Question:
        return Question([_ask_project(_COUNT, {})], _parse_span_count)

    def list_traces(self) -> Question:
        return Question([Request(f"{_PROJECT}/traces", {"limit": LIST_SIZE})], _parse_rows)

    def read_trace(self, trace_id: str) -> Question:
        return Question([Request(f"{_PROJECT}/spans", {"trace_id": trace_id})], _parse_spans)

    def summarize(self, period: Period) -> Question:
        return Question([_ask_project(_SUMMARY, _format_period(period))], _parse_summary)

    def count_per_hour(self, period: Period) -> Question:
        return Question([_ask_project(_SERIES, _format_period(period))], _parse_series)

    def search(self, word: str) -> Question:
        variables = {"filter": f"'{word}' in input.value"}
        return Question([_ask_project(_SEARCH % LIST_SIZE, variables)], _parse_search)


_TYPES = {"time": "TimeRange!", "filter": "String!"}


def _ask_project(fields: str, variables: dict[str, Any]) -> Request:
    declared = ", ".join(f"${name}: {_TYPES[name]}" for name in variables)
    head = f"query({declared})" if declared else "query"
    query = f'{head} {{ getProjectByName(name: "default") {{ {fields} }} }}'
    return Request("/graphql", body={"query": query, "variables": variables})


def _format_period(period: Period) -> dict[str, Any]:
    return {"time": {"start": period.start.isoformat(), "end": period.end.isoformat()}}


def _project(responses: list[Any]) -> Any:  # noqa: ANN401 -- JSON
    """Return the project of a GraphQL response, which has the status 200 for errors as well."""
    if errors := responses[0].get("errors"):
        raise ValueError(errors[0]["message"])
    return responses[0]["data"]["getProjectByName"]


def _parse_span_count(responses: list[Any]) -> Answer:
    return {"spans": _project(responses)["recordCount"]}


def _parse_rows(responses: list[Any]) -> Answer:
    return {"traces": len(responses[0]["data"])}


def _parse_spans(responses: list[Any]) -> Answer:
    return {"spans": len(responses[0]["data"])}


def _parse_summary(responses: list[Any]) -> Answer:
    project = _project(responses)
    tokens = round(project["tokenCountTotal"])
    return {"traces": project["traceCount"], "errors": project["errorCount"], "tokens": tokens}


def _parse_series(responses: list[Any]) -> Answer:
    hours = _project(responses)["traceCountByStatusTimeSeries"]["data"]
    errors = sum(hour["errorCount"] for hour in hours)
    return {"traces": sum(hour["totalCount"] for hour in hours), "errors": errors}


def _parse_search(responses: list[Any]) -> Answer:
    edges = _project(responses)["spans"]["edges"]
    return {"traces": len({edge["node"]["trace"]["traceId"] for edge in edges})}
