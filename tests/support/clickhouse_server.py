"""A ClickHouse server for tests: chDB behind ClickHouse's HTTP protocol, in a child process.

It replaces a real server where none is available, with the same engine, protocol and client. It
supports what clickhouse-connect sends: queries in the body or the URL, `param_x` bindings,
settings, inserts of any format, compression both ways, error codes, `/ping`.
"""

import argparse
import email
import email.policy
import gzip
import json
import os
import re
import subprocess
import sys
import threading
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import chdb
import lz4.frame
import zstandard

# Some builds have typed functions and some do not.
_chdb: Any = chdb

# Parameters of the transport itself; all others are settings of the query.
_TRANSPORT = {
    *("query", "database", "user", "password", "default_format", "session_id", "session_timeout"),
    *("session_check", "query_id", "compress", "decompress", "wait_end_of_query", "role"),
    *("client_protocol_version", "enable_http_compression", "buffer_size", "quota_key"),
    *("send_progress_in_http_headers", "http_headers_progress_interval_ms"),
}
_INSERT_HEAD = re.compile(rb"^\s*INSERT\s+INTO\s[^\n]*?\sFORMAT\s+(\w+)[ \t]*\n", re.IGNORECASE)
_INSERT = re.compile(r"^\s*INSERT\s+INTO\s.*\sFORMAT\s+(\w+)\s*$", re.IGNORECASE | re.DOTALL)
_FORMAT = re.compile(r"\sFORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)
_READS = re.compile(r"^\s*(?:/\*.*?\*/)?\s*(?:SELECT|WITH|SHOW|DESCRIBE|EXISTS|\()", re.IGNORECASE)
_UNPACK = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "lz4": lz4.frame.decompress,
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}
_PACK = {"lz4": lz4.frame.compress, "zstd": zstandard.compress, "gzip": gzip.compress}


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Engine:
    """Runs each request on a separate connection, like a server without sessions.

    A connection keeps its settings, so it is reused only for requests with the same settings.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._idle: dict[frozenset[tuple[str, str]], list[Any]] = defaultdict(list)
        self._lock = threading.Lock()
        self._kept_open = _chdb.connect(self._folder)

    @contextmanager
    def _connection(self, parameters: Mapping[str, str]) -> Iterator[Any]:
        settings = frozenset(
            (name, value)
            for name, value in parameters.items()
            if name == "database" or (name not in _TRANSPORT and not name.startswith("param_"))
        )
        with self._lock:
            idle = self._idle[settings]
            connection = idle.pop() if idle else None
        if connection is None:
            connection = _chdb.connect(self._folder)
            for name, value in settings:
                connection.query(
                    f"USE `{value}`" if name == "database" else f"SET {name} = {quoted(value)}"
                )
        # After an error the connection is not used again.
        yield connection
        with self._lock:
            self._idle[settings].append(connection)

    def run(self, parameters: Mapping[str, str], body: bytes) -> tuple[bytes, str]:
        """Run a request and return the response with its format."""
        sql, data = _split(parameters.get("query"), body)
        bound = {k[6:]: v for k, v in parameters.items() if k.startswith("param_")}
        with self._connection(parameters) as connection:
            insert = _INSERT.match(sql)
            if insert is not None:
                return self._insert(connection, sql, insert[1], data), insert[1]
            found = _FORMAT.search(sql)
            name = found[1] if found else parameters.get("default_format", "TabSeparated")
            plain = sql[: found.start()] if found else sql
            result = connection.query(plain, name, params=bound)
            return (result.bytes() if _READS.match(plain) else b""), name

    def _insert(self, connection: Any, sql: str, name: str, data: bytes) -> bytes:
        file = os.memfd_create("insert")
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(file, view) :]
            head = _FORMAT.sub("", sql)
            source = f"FROM INFILE '/proc/self/fd/{file}' COMPRESSION 'none' FORMAT {name}"
            connection.query(f"{head} {source}")
        finally:
            os.close(file)
        return b""


def _split(query: str | None, body: bytes) -> tuple[str, bytes]:
    """Split the statement from the data that it inserts."""
    if query:
        return query.strip(), body
    head = _INSERT_HEAD.match(body)
    if head is not None:
        return body[: head.end()].decode().strip(), body[head.end() :]
    return body.decode("utf-8", "surrogateescape").strip(), b""


def _read_form(content_type: str, body: bytes) -> dict[str, str]:
    """Read form fields, which the client uses for parameters too long for a URL."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    form = email.message_from_bytes(head + body, policy=email.policy.HTTP)
    return {
        str(field.get_param("name", header="Content-Disposition")): field.get_content().strip()
        for field in form.iter_parts()
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine: Engine

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        address = urlsplit(self.path)
        body = self._read_body()
        if address.path == "/ping":
            self._answer(200, b"Ok.\n", {})
            return
        parameters = dict(parse_qsl(address.query, keep_blank_values=True))
        if self.headers.get_content_type() == "multipart/form-data":
            parameters |= _read_form(self.headers["Content-Type"], body)
            body = b""
        try:
            data, name = self.engine.run(parameters, body)
        except Exception as error:
            text = str(error)
            code = re.search(r"Code: (\d+)", text)
            headers = {"X-ClickHouse-Exception-Code": code[1] if code else "1002"}
            self._answer(500, text.encode("utf-8", "replace"), headers)
            return
        summary = {"read_rows": "0", "written_rows": "0", "result_rows": "0"}
        headers = {
            "X-ClickHouse-Summary": json.dumps(summary),
            "X-ClickHouse-Format": name,
            "X-ClickHouse-Timezone": "UTC",
        }
        if parameters.get("enable_http_compression") == "1" and data:
            data, packed = self._pack(data)
            headers |= packed
        self._answer(200, data, headers)

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            chunks = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(chunks)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        encoding = self.headers.get("Content-Encoding")
        return _UNPACK[encoding](body) if encoding else body

    def _pack(self, data: bytes) -> tuple[bytes, dict[str, str]]:
        accepted = [part.strip() for part in self.headers.get("Accept-Encoding", "").split(",")]
        for name, pack in _PACK.items():
            if name in accepted:
                return pack(data), {"Content-Encoding": name}
        return data, {}

    def _answer(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the library's name
        """Log nothing."""


@contextmanager
def run_clickhouse(folder: Path, port: int = 0) -> Iterator[str]:
    """Start the server in a child process and yield its URL; kill it at the end."""
    command = [sys.executable, str(Path(__file__)), "--folder", str(folder), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            yield f"clickhouse://default:@127.0.0.1:{port}/default"
        finally:
            process.kill()


class ClickhouseServer:
    """A server that can be killed and restarted at the same address with its data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = 0
        self._running = ExitStack()
        self.url = ""

    def start(self) -> None:
        self.url = self._running.enter_context(run_clickhouse(self._folder, self._port))
        self._port = urlsplit(self.url).port or 0

    def kill(self) -> None:
        self._running.close()

    def __enter__(self) -> "ClickhouseServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    Handler.engine = Engine(given.folder)
    server = ThreadingHTTPServer(("127.0.0.1", given.port), Handler)
    server.daemon_threads = True
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
