"""Makes reads wait for the caller's own writes, and says how recent a response is.

`Cache-Control: max-age=N` allows the caller's writes of the last N seconds to be missing;
`no-cache` waits for everything that anyone in the workspace wrote.
"""

import re
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request, Response

from spanwise.api.services import get_services
from spanwise.model.accounts import Principal
from spanwise.model.errors import NotFound
from spanwise.model.freshness import Freshness

MAX_AGE_SECONDS = 60
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age=(\d{1,9})(?=$|[,\s])", re.ASCII | re.IGNORECASE)
_NO_CACHE = re.compile(r"(?:^|[,\s])no-cache(?=$|[,\s])", re.ASCII | re.IGNORECASE)


def parse_freshness(caller: Principal, cache_control: str) -> Freshness:
    if _NO_CACHE.search(cache_control):
        return Freshness(caller.workspace_id)
    match = _MAX_AGE.search(cache_control)
    max_age = min(int(match[1]), MAX_AGE_SECONDS) if match else 0
    return Freshness(caller.workspace_id, caller.caller_id, max_age)


async def wait_for_freshness(request: Request) -> None:
    """Wait for what the response must include, before the route reads."""
    # Reads `Request`, because a header parameter would appear in the OpenAPI document.
    caller: Principal = request.state.principal
    if caller.role is None:
        # Only a batch gets here without a role; it must not tell about the data of others.
        return
    freshness = parse_freshness(caller, request.headers.get("cache-control", ""))
    pipeline = get_services(request).ingest.pipeline
    await pipeline.wait_until_visible(freshness)
    pending_since = pipeline.pending_since(caller.workspace_id)
    request.state.is_data_pending = pending_since is not None
    request.state.data_as_of = _to_utc(pending_since)


# For routes that read telemetry.
Fresh = Annotated[None, Depends(wait_for_freshness)]


async def wait_if_missing(request: Request, handle: Callable[[], Awaitable[Response]]) -> Response:
    """Handle a request; if a record was not found, wait for pending data and try again."""
    try:
        return await handle()
    except NotFound:
        if not getattr(request.state, "is_data_pending", False):
            raise
    workspace = request.state.principal.workspace_id
    await get_services(request).ingest.pipeline.wait_until_visible(Freshness(workspace))
    return await handle()


def _to_utc(monotonic: float | None) -> datetime:
    age = 0.0 if monotonic is None else time.monotonic() - monotonic
    return datetime.fromtimestamp(time.time() - age, UTC)
