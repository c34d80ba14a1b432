"""An answer's head leaves with its body, and never without being asked to."""

from spanwise.api.http.protocol import JoiningTransport

HEAD, BODY = b"HTTP/1.1 200 OK\r\n\r\n", b"body"


class Wire:
    """A transport that notes what each call to it sends."""

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


def joined() -> tuple[JoiningTransport, Wire]:
    wire = Wire()
    return JoiningTransport(wire), wire  # type: ignore[arg-type]


def test_head_and_body_are_sent_at_once_and_the_rest_as_it_comes() -> None:
    transport, wire = joined()
    for part in (HEAD, BODY, b"more", b"end"):
        transport.write(part)
    transport.end_answer()
    assert wire.sent == [HEAD + BODY, b"more", b"end"]


def test_the_next_answer_is_joined_again() -> None:
    transport, wire = joined()
    for _ in range(2):
        transport.write(HEAD)
        transport.write(BODY)
        transport.end_answer()
    assert wire.sent == [HEAD + BODY] * 2


def test_a_head_without_a_body_is_sent_when_the_answer_ends() -> None:
    transport, wire = joined()
    transport.write(HEAD)
    assert wire.sent == []
    transport.end_answer()
    transport.end_answer()
    assert wire.sent == [HEAD]


def test_closing_sends_what_is_held_back() -> None:
    transport, wire = joined()
    transport.write(HEAD)
    transport.close()
    assert wire.sent == [HEAD]
    assert wire.is_closed


def test_a_client_that_asks_whether_to_go_on_is_told_at_once() -> None:
    transport, wire = joined()
    transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert wire.sent == [b"HTTP/1.1 100 Continue\r\n\r\n"]
    transport.write(HEAD)
    transport.write(BODY)
    assert wire.sent[1:] == [HEAD + BODY]


def test_everything_else_is_the_transports_own() -> None:
    transport, _ = joined()
    assert transport.get_extra_info("peername") == "the peername"
