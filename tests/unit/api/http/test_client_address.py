"""Which forwarded address is the client's."""

import pytest

from spanwise.api.http.client_address import TrustedProxies

HERE = ("127.0.0.1", "::1")
NETWORK = ("10.0.0.0/8", "fd00::/8")


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded_for", "client"),
    [
        (HERE, "127.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        (HERE, "::1", ["2001:db8::7"], "2001:db8::7"),
        # The caller's own values are left of what the proxy adds.
        (HERE, "127.0.0.1", ["203.0.113.1, 198.51.100.7"], "198.51.100.7"),
        (HERE, "127.0.0.1", ["203.0.113.1", "198.51.100.7"], "198.51.100.7"),
        # Other peers are not trusted.
        (HERE, "198.51.100.9", ["203.0.113.1"], "198.51.100.9"),
        (HERE, "10.0.0.1", ["203.0.113.1"], "10.0.0.1"),
        ((), "127.0.0.1", ["203.0.113.1"], "127.0.0.1"),
        # Several trusted proxies.
        (NETWORK, "10.0.0.1", ["203.0.113.1, 198.51.100.7, 10.9.9.9, fd00::5"], "198.51.100.7"),
        (NETWORK, "::ffff:10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        (NETWORK, "10.0.0.1", ["10.0.0.2"], "10.0.0.2"),
        # With a port, and in other notations.
        (HERE, "127.0.0.1", ["198.51.100.7:4711"], "198.51.100.7"),
        (HERE, "127.0.0.1", ["[2001:DB8:0::7]:4711"], "2001:db8::7"),
        # An invalid address ends the search.
        (HERE, "127.0.0.1", ["unknown"], "127.0.0.1"),
        (HERE, "127.0.0.1", [""], "127.0.0.1"),
        (HERE, "127.0.0.1", [], "127.0.0.1"),
        (("*",), "198.51.100.9", ["x" * 9000 + ", 203.0.113.1"], "203.0.113.1"),
        (("*",), "198.51.100.9", ["203.0.113.1, 203.0.113.2"], "203.0.113.1"),
        (("*",), "a socket", ["203.0.113.1"], "203.0.113.1"),
    ],
)
def test_the_client_is_the_first_untrusted_address(
    trusted: tuple[str, ...], peer: str, forwarded_for: list[str], client: str
) -> None:
    assert TrustedProxies(trusted).find_client(peer, forwarded_for) == client
