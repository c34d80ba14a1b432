"""The client's address: that of the peer, or the one forwarded by trusted proxies."""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

_SCHEMES = {"http", "https"}
# Longer than any real chain of proxies; a caller could send any number.
_MAX_HOPS = 32


class TrustedProxies:
    """Addresses and networks whose `X-Forwarded-For` is trusted; `*` means all."""

    def __init__(self, trusted: Sequence[str]) -> None:
        self._trusts_all = "*" in trusted
        self._networks = [ip_network(part) for part in trusted if part != "*"]

    def trusts(self, host: str) -> bool:
        if self._trusts_all:
            return True
        address = _parse(host)
        return address is not None and any(address in network for network in self._networks)

    def find_client(self, peer: str, forwarded_for: Iterable[str]) -> str:
        """Walk back from the peer through the forwarded addresses until one is not trusted.

        Everything before an untrusted address could be forged by the caller.
        """
        hops = ",".join(forwarded_for).rsplit(",", _MAX_HOPS)[-_MAX_HOPS:]
        client = peer
        while hops and self.trusts(client):
            address = _parse(_without_port(hops.pop().strip()))
            if address is None:
                break
            client = str(address)
        return client


class ProxyHeaders:
    """Puts the client's address and scheme into the scope of requests from trusted proxies."""

    def __init__(self, app: ASGIApp, trusted: Sequence[str]) -> None:
        self._app = app
        self._proxies = TrustedProxies(trusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer = scope.get("client")
        if scope["type"] == "http" and peer and self._proxies.trusts(peer[0]):
            forwarded_for = _values(scope, b"x-forwarded-for")
            client = self._proxies.find_client(peer[0], forwarded_for)
            if client != peer[0]:
                scope["client"] = (client, 0)
            # The last value is from the nearest proxy; earlier ones could be forged by the caller.
            schemes = ",".join(_values(scope, b"x-forwarded-proto")).split(",")
            if (scheme := schemes[-1].strip().lower()) in _SCHEMES:
                scope["scheme"] = scheme
        await self._app(scope, receive, send)


def _values(scope: Scope, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


def _parse(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    # A dual-stack socket shows IPv4 peers as ::ffff:10.0.0.1.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    host, _, port = hop.partition(":")
    return host if port.isdigit() else hop
