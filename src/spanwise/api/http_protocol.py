"""HTTP as the server speaks it, but for what it says to those who do not speak HTTP."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from spanwise.api.errors import answer_error
from spanwise.model.errors import Invalid


class EnvelopeProtocol(HttpToolsProtocol):
    """Answers a request that cannot be read in the envelope; left alone, it would be plain text."""

    def send_400_response(self, msg: str) -> None:
        answer = answer_error(Invalid("this is not a valid HTTP request"))
        headers = [*answer.raw_headers, (b"connection", b"close")]
        head = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + head + b"\r\n" + bytes(answer.body))
        self.transport.close()
