"""Real receivers of mail and webhooks, on free ports."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler

from support.servers import free_port


class Inbox(MessageHandler):
    """Records received mails."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Message] = []

    def handle_message(self, message: Message) -> None:
        self.messages.append(message)

    def subjects(self) -> list[str]:
        return [str(message["Subject"]) for message in self.messages]


@contextmanager
def smtp_server(**options: Any) -> Iterator[tuple[Inbox, int]]:
    inbox = Inbox()
    controller = Controller(inbox, hostname="127.0.0.1", port=free_port(), **options)
    controller.start()
    try:
        yield inbox, controller.port
    finally:
        controller.stop()


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes
    answered: int

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class HookServer:
    """Records requests and responds with the configured status."""

    port: int
    status: int = 200
    location: str | None = None
    answer: bytes = b""
    received: list[Received] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def accepted(self) -> list[Received]:
        return [received for received in self.received if received.answered == 200]

    def types(self) -> list[str]:
        return [received.json["type"] for received in self.accepted]


@contextmanager
def hook_server() -> Iterator[HookServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            hooks.received.append(Received(self.path, headers, body, hooks.status))
            self.send_response(hooks.status)
            if hooks.location:
                self.send_header("Location", hooks.location)
            self.send_header("Content-Length", str(len(hooks.answer)))
            self.end_headers()
            self.wfile.write(hooks.answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hooks = HookServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hooks
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
