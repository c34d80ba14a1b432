"""Reads the JSON bodies of ingest routes, which may be compressed and larger than other bodies."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from spanwise.api.http.headers import parse_encoding, parse_media_type
from spanwise.api.services import get_services
from spanwise.model.errors import Invalid


@asynccontextmanager
async def json_body(request: Request) -> AsyncIterator[bytes]:
    """Read and decompress a JSON body; its memory stays reserved until the block ends."""
    if parse_media_type(request.headers.get("content-type", "")) != "application/json":
        raise Invalid.field("Content-Type", "must be application/json")
    encoding = parse_encoding(request.headers)
    try:
        async with get_services(request).ingest.body_memory.read(
            request.stream(), encoding
        ) as body:
            yield body
    except ClientDisconnect:
        raise Invalid("the connection was closed before the whole body arrived") from None
