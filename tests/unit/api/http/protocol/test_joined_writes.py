"""The headers of a response are sent with its body, and never held back for good."""

from spanwise.api.http.protocol.joined_writes import JoinedWritesTransport

HEADERS, BODY = b"HTTP/1.1 200 OK\r\n\r\n", b"body"


class Wire:
    """A transport that records what each call sends."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def writelines(self, parts: list[bytes]) -> None:
        self.sent.append(b"".join(parts))

    def close(self) -> None:
        self.is_closed = True

    def get_extra_info(self, name: str) -> str:
        return f"the {name}"


def joined() -> tuple[JoinedWritesTransport, Wire]:
    wire = Wire()
    return JoinedWritesTransport(wire), wire  # type: ignore[arg-type]


def test_headers_and_first_body_part_are_sent_together() -> None:
    transport, wire = joined()
    for part in (HEADERS, BODY, b"more", b"end"):
        transport.write(part)
    transport.end_response()
    assert wire.sent == [HEADERS + BODY, b"more", b"end"]


def test_the_next_response_is_joined_again() -> None:
    transport, wire = joined()
    for _ in range(2):
        transport.write(HEADERS)
        transport.write(BODY)
        transport.end_response()
    assert wire.sent == [HEADERS + BODY] * 2


def test_headers_without_a_body_are_sent_when_the_response_ends() -> None:
    transport, wire = joined()
    transport.write(HEADERS)
    assert wire.sent == []
    transport.end_response()
    transport.end_response()
    assert wire.sent == [HEADERS]


def test_closing_sends_pending_headers() -> None:
    transport, wire = joined()
    transport.write(HEADERS)
    transport.close()
    assert wire.sent == [HEADERS]
    assert wire.is_closed


def test_100_continue_is_sent_at_once() -> None:
    transport, wire = joined()
    transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert wire.sent == [b"HTTP/1.1 100 Continue\r\n\r\n"]
    transport.write(HEADERS)
    transport.write(BODY)
    assert wire.sent[1:] == [HEADERS + BODY]


def test_everything_else_is_delegated() -> None:
    transport, _ = joined()
    assert transport.get_extra_info("peername") == "the peername"
