"""SSRF protection: posts to user-supplied URLs, but not to private addresses.

A host name is resolved once, all its addresses are checked, and the connection goes to a checked
address, so DNS rebinding has no effect. The connected peer is checked again. Redirects are not
followed, and at most the beginning of a response is read.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpcore2

ATTEMPT_SECONDS = 10.0
_RESOLVE_SECONDS = 2.0
_MAX_URL = 2000

_PRIVATE_TARGET = (
    "the target has a private address; an administrator can allow that with "
    "SPANWISE_ALLOW_PRIVATE_WEBHOOKS"
)

Resolver = Callable[[str, int], Awaitable[list[str]]]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# In this network the last four bytes of an address are an IPv4 address.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Not public either, although Python says so: former site-local addresses, documentation, and the
# former anycast address of 6to4 relays.
_NOT_PUBLIC = tuple(map(ipaddress.ip_network, ("fec0::/10", "3fff::/20", "192.88.99.0/24")))


class AddressRefused(Exception):  # noqa: N818 -- an outcome, not a bug
    """Webhooks may not connect to the target address."""


async def resolve(host: str, port: int) -> list[str]:
    """Resolve a host name with the system resolver."""
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def is_public(text: str) -> bool:
    """Return whether an address, and any IPv4 address embedded in it, is public."""
    try:
        address: Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return all(_is_global(each) for each in (address, *_embedded_in(address)))


def _is_global(address: Address) -> bool:
    is_special = address.is_multicast or address.is_reserved
    return address.is_global and not is_special and not any(address in net for net in _NOT_PUBLIC)


def _embedded_in(address: Address) -> Iterable[Address]:
    if isinstance(address, ipaddress.IPv4Address):
        return []
    embedded = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        embedded.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in embedded if each is not None]


class WebhookGuard:
    """Validates webhook URLs and posts to them."""

    def __init__(self, *, allow_private: bool, resolver: Resolver = resolve) -> None:
        self._allow_private = allow_private
        self._resolve = resolver

    async def find_problem(self, url: str) -> str | None:
        """Return what is wrong with a URL, or None if it may be stored."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return "is not a valid URL"
        if parts.scheme not in {"http", "https"} or not host or len(url) > _MAX_URL:
            return "must be an http:// or https:// URL"
        if parts.username is not None or not url.isascii() or not url.isprintable() or " " in url:
            return "must not contain credentials, spaces or non-ASCII characters"
        if self._allow_private or await self._looks_public(host, port):
            return None
        return (
            "must not point to a private address; an administrator can allow that with "
            "SPANWISE_ALLOW_PRIVATE_WEBHOOKS"
        )

    async def _looks_public(self, host: str, port: int) -> bool:
        try:
            async with asyncio.timeout(_RESOLVE_SECONDS):
                addresses = await self._resolve(host, port)
        except (OSError, TimeoutError, UnicodeError):
            # A failed lookup may be temporary, and every delivery resolves the name again.
            return True
        return all(is_public(address) for address in addresses)

    async def post(
        self,
        url: str,
        headers: Mapping[bytes | str, bytes | str],
        body: bytes,
        *,
        read_bytes: int = 0,
    ) -> tuple[int, bytes]:
        """Post, and return the status and so much of the response.

        Raises on connection errors and refused addresses.
        """
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), ATTEMPT_SECONDS)
        backend = _GuardedBackend(self._resolve, allow_private=self._allow_private)
        async with (
            asyncio.timeout(ATTEMPT_SECONDS),
            httpcore2.AsyncConnectionPool(network_backend=backend) as pool,
            pool.stream(
                "POST", url, headers=headers, content=body, extensions={"timeout": timeouts}
            ) as response,
        ):
            answer = b""
            if read_bytes:
                async for chunk in response.aiter_stream():
                    answer += chunk
                    if len(answer) >= read_bytes:
                        break
            return response.status, answer[:read_bytes]


@dataclass
class _GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects only to checked addresses."""

    resolver: Resolver
    allow_private: bool

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- signature of the base class
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await self.resolver(host, port)
        if not addresses:
            raise AddressRefused("the name has no address")
        if not self.allow_private and not all(is_public(address) for address in addresses):
            raise AddressRefused(_PRIVATE_TARGET)
        stream = await httpcore2.AnyIOBackend().connect_tcp(
            addresses[0], port, timeout, local_address, socket_options
        )
        peer = stream.get_extra_info("server_addr")
        if not self.allow_private and not is_public(str(peer[0])):
            await stream.aclose()
            raise AddressRefused(_PRIVATE_TARGET)
        return stream

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
