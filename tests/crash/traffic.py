"""Clients that send all kinds of requests: valid and invalid, new and resent."""

import gzip
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import httpx
import orjson
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from crash.ledger import Ledger, Outcome, Request, SentSpan
from support.otlp import PROTOBUF, make_traces, pairs

JSON = "application/json"
SECOND = 10**9
HOUR = 3600 * SECOND
CLIENTS = 4


class RequestMaker:
    """Makes requests; the same seed makes the same ones, except for their times."""

    def __init__(self, seed: int, name: str) -> None:
        self._random = random.Random(seed)
        self._name = name
        self._made = 0
        self._roots: list[Request] = []

    def next(self) -> Request:
        if self._roots and self._random.random() < 0.7:
            return self._roots.pop()
        make: Callable[[], Request] = self._random.choices(
            [self._otlp, self._split, self._rest, self._signals, self._logs, self._bad],
            weights=[8, 2, 3, 2, 2, 1],
        )[0]
        self._made += 1
        return make()

    def _spans(self, count: int) -> list[Span]:
        # Some clocks are a day ahead or behind.
        offset = self._random.choices([0, -24 * HOUR, 24 * HOUR], weights=[8, 1, 1])[0]
        start = time.time_ns() + offset
        trace_id = self._random.randbytes(16)
        root_id = self._random.randbytes(8)
        return [
            Span(
                trace_id=trace_id,
                span_id=root_id if index == 0 else self._random.randbytes(8),
                parent_span_id=b"" if index == 0 else root_id,
                name="invoke_agent" if index == 0 else "chat",
                start_time_unix_nano=start + index,
                end_time_unix_nano=start + index + SECOND,
                attributes=pairs(
                    {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "concierge"}
                    if index == 0
                    else {
                        "gen_ai.operation.name": "chat",
                        "gen_ai.request.model": "gpt-4o",
                        "gen_ai.provider.name": "openai",
                        "gen_ai.usage.input_tokens": self._random.randint(1, 5000),
                        "gen_ai.output.messages": "some words " * self._random.randint(1, 40),
                    }
                ),
            )
            for index in range(count)
        ]

    def _otlp(self) -> Request:
        traces = self._random.choices([1, 4, 25], weights=[6, 3, 1])[0]
        spans = [span for _ in range(traces) for span in self._spans(8)]
        return self._request(spans, packed=self._random.random() < 0.3)

    def _split(self) -> Request:
        """Make a request with the children; the root follows in a later one."""
        root, *children = self._spans(self._random.randint(2, 8))
        self._roots.append(self._request([root]))
        return self._request(children)

    def _request(self, spans: list[Span], *, packed: bool = False) -> Request:
        body = make_traces(spans).SerializeToString()
        headers = [("content-type", PROTOBUF)]
        if packed:
            body = gzip.compress(body, 1)
            headers.append(("content-encoding", "gzip"))
        return Request("/otlp/v1/traces", body, tuple(headers), tuple(map(_sent, spans)))

    def _rest(self) -> Request:
        trace_id, tokens = self._random.randbytes(16).hex(), self._random.randint(1, 100)
        sent = SentSpan(trace_id, self._random.randbytes(8).hex(), True, tokens)
        span = {
            "traceId": sent.trace_id,
            "spanId": sent.span_id,
            "name": "answer",
            "kind": "llm",
            "startTime": datetime.now(UTC).isoformat(),
            "durationMs": 5,
            "inputTokens": tokens,
        }
        body = orjson.dumps({"spans": [span]})
        return Request("/spans", body, (("content-type", JSON),), (sent,))

    def _signals(self) -> Request:
        ids = tuple(f"{self._name}-{self._made}-{n}" for n in range(self._random.randint(1, 20)))
        signals = [{"id": i, "signalName": "rating", "value": 1} for i in ids]
        body = orjson.dumps({"signals": [{**s, "timestamp": _now()} for s in signals]})
        return Request("/signals/batch", body, (("content-type", JSON),), signal_ids=ids)

    def _logs(self) -> Request:
        texts = tuple(f"{self._name} {self._made} {n}" for n in range(self._random.randint(1, 20)))
        body = orjson.dumps({"logs": [{"message": t, "timestamp": _now()} for t in texts]})
        return Request("/logs", body, (("content-type", JSON),), log_messages=texts)

    def _bad(self) -> Request:
        # Begins with a wire type that does not exist: random bytes alone are sometimes valid.
        body = b"\x07" + self._random.randbytes(self._random.randint(1, 3000))
        return Request("/otlp/v1/traces", body, (("content-type", PROTOBUF),), is_good=False)


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _sent(span: Span) -> SentSpan:
    tokens = [a.value.int_value for a in span.attributes if a.key == "gen_ai.usage.input_tokens"]
    return SentSpan(span.trace_id.hex(), span.span_id.hex(), not span.parent_span_id, sum(tokens))


def send_request(http: httpx.Client, request: Request, ledger: Ledger) -> Outcome:
    """Send one request and record its outcome."""
    try:
        response = http.post(request.path, content=request.body, headers=list(request.headers))
    except httpx.TransportError:
        outcome = Outcome.UNKNOWN
    else:
        outcome = Outcome.KEPT if response.is_success else Outcome.REFUSED
        expected = {200, 201, 503} if request.is_good else {400}
        assert response.status_code in expected, (request.path, response.text)
    ledger.record(request, outcome)
    return outcome


class _Client(threading.Thread):
    """Sends until it is stopped or the service is gone."""

    def __init__(
        self, api: str, key: str, ledger: Ledger, maker: RequestMaker, seed: int, pause: float
    ) -> None:
        super().__init__()
        self._http = httpx.Client(base_url=api, headers={"x-api-key": key}, timeout=30)
        self._ledger = ledger
        self._maker = maker
        self._random = random.Random(seed)
        self._pause = pause
        self.stopped = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with self._http:
                while not self.stopped.is_set() and self._send_one():
                    self.stopped.wait(self._pause)
        except BaseException as error:
            self.failure = error

    def _send_one(self) -> bool:
        again = self._ledger.some_kept(self._random.randrange(10**9))
        is_again = again is not None and self._random.random() < 0.2
        request = again if is_again and again is not None else self._maker.next()
        return send_request(self._http, request, self._ledger) is not Outcome.UNKNOWN


@contextmanager
def traffic(api: str, key: str, ledger: Ledger, seed: int, pause: float = 0.03) -> Iterator[None]:
    """Run several clients during the block."""
    clients = [
        _Client(api, key, ledger, RequestMaker(seed + n, f"{seed}.{n}"), seed + n, pause)
        for n in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        for client in clients:
            client.stopped.set()
        for client in clients:
            client.join()
    for client in clients:
        if client.failure is not None:
            raise client.failure
