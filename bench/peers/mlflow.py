"""MLflow: the tracking server on SQLite, asked through its REST API."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from bench.peers.install import MLFLOW, install_peer
from bench.peers.product import LIST_SIZE, Answer, Period, Product, Question, Request, Running
from bench.peers.server import run_server
from bench.service import free_port

# The experiment that exists in every new store.
_EXPERIMENT = "0"
_TRACES = "/api/3.0/mlflow/traces"
_LOCATION = {
    "type": "MLFLOW_EXPERIMENT",
    "mlflow_experiment": {"experiment_id": _EXPERIMENT},
}


class MLflow(Product):
    name = MLFLOW.product
    version = MLFLOW.version
    notes = (
        "MLflow runs its default number of server processes. Its download of model prices is "
        "turned off, as it would wait for the network; it uses the prices in the package.",
        "The summary takes two requests in MLflow: traces by status, and tokens.",
    )

    @contextmanager
    def run(self, folder: Path) -> Iterator[Running]:
        commands = install_peer(MLFLOW)
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        command = [
            commands / "mlflow", "server", "--host", "127.0.0.1", "--port", port,
            "--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}",
        ]  # fmt: skip
        settings = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_MODEL_CATALOG_URI": ""}
        with (
            run_server(str(MLFLOW), command, settings, folder, f"{url}/health") as (pid, seconds),
            httpx.Client(base_url=url, timeout=120) as http,
        ):
            headers = {"x-mlflow-experiment-id": _EXPERIMENT}
            yield Running(pid, port, seconds, http, "/v1/traces", headers)

    def count_spans(self) -> Question:
        return Question([_ask_metric("SPANS", "span_count", "COUNT")], _parse_span_count)

    def list_traces(self) -> Question:
        return Question([_search_traces({"order_by": ["timestamp_ms DESC"]})], _parse_rows)

    def read_trace(self, trace_id: str) -> Question:
        return Question([Request(f"{_TRACES}/get", {"trace_id": f"tr-{trace_id}"})], _parse_trace)

    def summarize(self, period: Period) -> Question:
        status = {**_format_period(period), "dimensions": ["trace_status"]}
        requests = [
            _ask_metric("TRACES", "trace_count", "COUNT", **status),
            _ask_metric("TRACES", "total_tokens", "SUM", **_format_period(period)),
        ]
        return Question(requests, _parse_summary)

    def count_per_hour(self, period: Period) -> Question:
        more = {"dimensions": ["trace_status"], "time_interval_seconds": 3600}
        request = _ask_metric("TRACES", "trace_count", "COUNT", **_format_period(period), **more)
        return Question([request], _parse_statuses)

    def search(self, word: str) -> Question:
        return Question([_search_traces({"filter": f"trace.text ILIKE '%{word}%'"})], _parse_rows)


def _search_traces(more: dict[str, Any]) -> Request:
    body = {"locations": [_LOCATION], "max_results": LIST_SIZE, **more}
    return Request(f"{_TRACES}/search", body=body)


def _ask_metric(view: str, metric: str, aggregation: str, **more: object) -> Request:
    body = {
        "experiment_ids": [_EXPERIMENT],
        "view_type": view,
        "metric_name": metric,
        "aggregations": [{"aggregation_type": aggregation}],
        **more,
    }
    return Request(f"{_TRACES}/metrics", body=body)


def _format_period(period: Period) -> dict[str, Any]:
    return {
        "start_time_ms": int(period.start.timestamp() * 1000),
        "end_time_ms": int(period.end.timestamp() * 1000),
    }


def _sum(response: dict[str, Any], aggregation: str) -> int:
    """Add up the data points; there are none while nothing is stored."""
    points = response.get("data_points", [])
    return sum(int(point["values"][aggregation]) for point in points)


def _parse_span_count(responses: list[Any]) -> Answer:
    return {"spans": _sum(responses[0], "COUNT")}


def _parse_rows(responses: list[Any]) -> Answer:
    return {"traces": len(responses[0].get("traces", []))}


def _parse_trace(responses: list[Any]) -> Answer:
    return {"spans": len(responses[0]["trace"]["spans"])}


def _parse_statuses(responses: list[Any]) -> Answer:
    points = responses[0].get("data_points", [])
    failed = [point for point in points if point["dimensions"]["trace_status"] == "ERROR"]
    return {
        "traces": _sum(responses[0], "COUNT"),
        "errors": _sum({"data_points": failed}, "COUNT"),
    }


def _parse_summary(responses: list[Any]) -> Answer:
    return {**_parse_statuses(responses), "tokens": _sum(responses[1], "SUM")}
