"""An OTLP/HTTP receiver that keeps the raw request bodies it is sent."""

from __future__ import annotations

import gzip
import threading
import zlib
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Export:
    """One export request, with its body already decompressed."""

    path: str
    content_type: str
    body: bytes
    encoding: str

    @property
    def signal(self) -> str | None:
        for signal in ("traces", "logs", "metrics"):
            if self.path.endswith(f"/v1/{signal}"):
                return signal
        return None

    @property
    def is_json(self) -> bool:
        return "json" in self.content_type


class Receiver(ThreadingHTTPServer):
    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.exports: list[Export] = []
        self.lock = threading.Lock()

    def start(self) -> Receiver:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def take(self) -> list[Export]:
        """Everything received since the last call."""
        with self.lock:
            received, self.exports = self.exports, []
        return received


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def log_message(self, *_: object) -> None:
        """Stay silent: the recorder prints its own progress."""

    def do_GET(self) -> None:
        self._answer("application/json", b"{}")

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            parts: list[bytes] = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("content-length", "0")))

    def do_POST(self) -> None:
        body = self._body()
        encoding = self.headers.get("content-encoding", "identity")
        if encoding == "gzip":
            body = gzip.decompress(body)
        elif encoding == "deflate":
            body = zlib.decompress(body)
        content_type = self.headers.get("content-type", "")
        export = Export(self.path.split("?")[0], content_type, body, encoding)
        with self.server.lock:
            self.server.exports.append(export)
        # An empty message is a full success in both encodings.
        self._answer(content_type, b"{}" if export.is_json else b"")

    def _answer(self, content_type: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
