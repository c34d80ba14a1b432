"""Bodies that ingest reads itself: larger than others, perhaps compressed, checked by its rules."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from spanwise.api.services import get_services
from spanwise.model.errors import Invalid


@asynccontextmanager
async def json_body(request: Request) -> AsyncIterator[bytes]:
    """Read a JSON body up to the ingest limit, unpacked; it keeps its place in memory so long."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Invalid.field("Content-Type", "must be application/json")
    encoding = request.headers.get("content-encoding", "").strip().lower()
    try:
        async with get_services(request).body_memory.read(request.stream(), encoding) as body:
            yield body
    except ClientDisconnect:
        raise Invalid("the connection ended before the body did") from None
