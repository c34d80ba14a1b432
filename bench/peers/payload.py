"""The spans that every product gets, and what the answers about them must say."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from bench.payload import SPANS_PER_TRACE, Writer, make_body, make_rare_body, read_pool, write_pool

BODY_SPANS = 200
# Sent before the clock starts, each over a new connection, to reach all processes of a server.
WARM_UP_REQUESTS = 16
_TOKENS = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")


@dataclass(frozen=True)
class Contents:
    """What a number of requests contains."""

    spans: int
    traces: int
    errors: int
    tokens: int
    trace_ids: list[str]


@dataclass(frozen=True)
class Payload:
    pool: Path
    bodies: int
    warm_up: list[bytes]

    def describe(self, bodies: int) -> Contents:
        """Describe the warm-up and the first bodies of the pool."""
        pool = [body.data for body in read_pool(self.pool)[:bodies]]
        return describe_bodies([*self.warm_up, *pool])


def write_payload(folder: Path, spans: int) -> Payload:
    pool = folder / "pool-peers"
    bodies = spans // BODY_SPANS
    write_pool(pool, BODY_SPANS, bodies)
    writer = Writer(1)
    warm_up = [make_body(writer, SPANS_PER_TRACE) for _ in range(WARM_UP_REQUESTS)]
    return Payload(pool, bodies, [*warm_up, make_rare_body()])


def describe_bodies(bodies: Iterable[bytes]) -> Contents:
    spans = [
        span
        for body in bodies
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    roots = [span for span in spans if not span.parent_span_id]
    return Contents(
        spans=len(spans),
        traces=len(roots),
        errors=sum(root.status.code == Status.STATUS_CODE_ERROR for root in roots),
        tokens=sum(_count_tokens(span) for span in spans),
        trace_ids=[root.trace_id.hex() for root in roots],
    )


def _count_tokens(span: Span) -> int:
    return sum(pair.value.int_value for pair in span.attributes if pair.key in _TOKENS)
