"""Bodies that ingest reads itself: larger than others, perhaps compressed, checked by its rules."""

from starlette.requests import ClientDisconnect, Request

from spanwise.ingest.compression import read_body
from spanwise.model.errors import Invalid


async def read_json_body(request: Request) -> bytes:
    """Read a JSON body up to the ingest limit, unpacked."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Invalid.field("Content-Type", "must be application/json")
    encoding = request.headers.get("content-encoding", "").strip().lower()
    try:
        return await read_body(request.stream(), encoding)
    except ClientDisconnect:
        raise Invalid("the connection ended before the body did") from None
