"""What the benchmark needs to know of a product: how to run it, send spans to it and ask it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

# What an answer says, by name; compared with what was sent.
Answer = dict[str, int]
LIST_SIZE = 50


@dataclass(frozen=True)
class Request:
    """A GET, or a POST if there is a body."""

    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """The requests that answer a question, and how to read their JSON responses."""

    requests: Sequence[Request]
    parse: Callable[[list[Any]], Answer]


@dataclass(frozen=True)
class Period:
    start: datetime
    end: datetime


@dataclass(frozen=True)
class Running:
    """A started product."""

    pid: int
    port: int
    start_seconds: float
    http: httpx.Client
    export_path: str
    export_headers: Mapping[str, str]


class Product(ABC):
    """A product under test; a question that it cannot answer returns None."""

    name: str
    version: str
    notes: Sequence[str] = ()

    @abstractmethod
    def run(self, folder: Path) -> AbstractContextManager[Running]:
        """Start the product with its data in a folder; stop it at the end of the block."""

    @abstractmethod
    def count_spans(self) -> Question: ...

    @abstractmethod
    def list_traces(self) -> Question | None: ...

    @abstractmethod
    def read_trace(self, trace_id: str) -> Question | None: ...

    @abstractmethod
    def summarize(self, period: Period) -> Question | None: ...

    @abstractmethod
    def count_per_hour(self, period: Period) -> Question | None: ...

    @abstractmethod
    def search(self, word: str) -> Question | None: ...


def ask(http: httpx.Client, question: Question) -> list[Any]:
    """Send the requests of a question, one after the other, and return the decoded responses."""
    return [response.json() for response in send(http, question)]


def send(http: httpx.Client, question: Question) -> list[httpx.Response]:
    return [_send(http, request).raise_for_status() for request in question.requests]


def _send(http: httpx.Client, request: Request) -> httpx.Response:
    method = "GET" if request.body is None else "POST"
    return http.request(
        method, request.path, params=request.query, json=request.body, headers=request.headers
    )
