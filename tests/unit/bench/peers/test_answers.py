"""The requests to each product, and how their answers are read."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bench.peers.mlflow import MLflow
from bench.peers.phoenix import Phoenix
from bench.peers.product import Period, Product
from bench.peers.spanwise import Spanwise

START = datetime(2026, 11, 16, 12, tzinfo=UTC)
DAY = Period(START, START + timedelta(days=1))
SUMMARY = {"traces": 10, "errors": 2, "tokens": 700}
SERIES = {"traces": 10, "errors": 2}


def project(**fields: object) -> dict[str, Any]:
    return {"data": {"getProjectByName": fields}}


def status_point(status: str, count: float, hour: str = "") -> dict[str, Any]:
    dimensions = {"trace_status": status, **({"time_bucket": hour} if hour else {})}
    return {"metric_name": "trace_count", "dimensions": dimensions, "values": {"COUNT": count}}


STATUSES = {"data_points": [status_point("ERROR", 2.0), status_point("OK", 8.0)]}
TOKENS = {"data_points": [{"metric_name": "total_tokens", "values": {"SUM": 700.0}}]}
METRICS = {"data": {"totalTraces": 10, "successRate": 0.8, "totalTokens": 700}}


@pytest.mark.parametrize(
    ("product", "responses"),
    [
        (Spanwise(), [METRICS]),
        (Phoenix(), [project(traceCount=10, errorCount=2, tokenCountTotal=700.0)]),
        (MLflow(), [STATUSES, TOKENS]),
    ],
)
def test_a_summary_has_traces_errors_and_tokens(product: Product, responses: list[Any]) -> None:
    question = product.summarize(DAY)
    assert question is not None
    assert len(question.requests) == len(responses)
    assert question.parse(responses) == SUMMARY


HOURS = [
    {"timestamp": "2026-11-16T12:00:00+00:00", "totalCount": 4, "errorCount": 2},
    {"timestamp": "2026-11-16T13:00:00+00:00", "totalCount": 6, "errorCount": 0},
]
TREND = [{"success": 2, "failure": 2}, {"success": 6, "failure": 0}]
BUCKETS = [
    status_point("ERROR", 2.0, "2026-11-16T12:00:00+00:00"),
    status_point("OK", 2.0, "2026-11-16T12:00:00+00:00"),
    status_point("OK", 6.0, "2026-11-16T13:00:00+00:00"),
]


@pytest.mark.parametrize(
    ("product", "response"),
    [
        (Spanwise(), {"data": {"trend": TREND}}),
        (Phoenix(), project(traceCountByStatusTimeSeries={"data": HOURS})),
        (MLflow(), {"data_points": BUCKETS}),
    ],
)
def test_a_series_is_added_up(product: Product, response: object) -> None:
    question = product.count_per_hour(DAY)
    assert question is not None
    assert question.parse([response]) == SERIES


@pytest.mark.parametrize(
    ("product", "response"),
    [
        (Spanwise(), {"pagination": {"total": 3}}),
        (Phoenix(), project(recordCount=24)),
        (MLflow(), {"data_points": [{"values": {"COUNT": 24.0}}]}),
    ],
)
def test_spans_are_counted(product: Product, response: object) -> None:
    assert product.count_spans().parse([response]) == {"spans": 24}


def test_an_empty_mlflow_store_has_no_spans_and_no_traces() -> None:
    assert MLflow().count_spans().parse([{}]) == {"spans": 0}
    assert MLflow().list_traces().parse([{}]) == {"traces": 0}


def test_two_spans_of_one_trace_are_one_hit_in_phoenix() -> None:
    edges = [{"node": {"trace": {"traceId": "a"}}}, {"node": {"trace": {"traceId": "a"}}}]
    assert Phoenix().search("word").parse([project(spans={"edges": edges})]) == {"traces": 1}


def test_a_graphql_error_is_not_an_answer() -> None:
    with pytest.raises(ValueError, match="no such field"):
        Phoenix().summarize(DAY).parse([{"data": None, "errors": [{"message": "no such field"}]}])


def test_graphql_queries_declare_their_variables() -> None:
    (request,) = Phoenix().search("word").requests
    assert request.body is not None
    assert request.body["query"].startswith("query($filter: String!)")
    assert request.body["variables"] == {"filter": "'word' in input.value"}


def test_mlflow_trace_ids_have_a_prefix() -> None:
    (request,) = MLflow().read_trace("0af7").requests
    assert request.query == {"trace_id": "tr-0af7"}


def test_mlflow_periods_are_milliseconds() -> None:
    for request in MLflow().summarize(DAY).requests:
        assert request.body is not None
        assert request.body["end_time_ms"] - request.body["start_time_ms"] == 86_400_000
