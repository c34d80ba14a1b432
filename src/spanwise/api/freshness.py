"""Reads from `Cache-Control: max-age=N` how old the data in a response may be.

Without the header, a response includes everything acknowledged before the request. A page that
refreshes itself accepts slightly older data, so it never waits for ingest.
"""

import re
from typing import Annotated

from fastapi import Depends, Request

from spanwise.model.freshness import LATEST, Freshness

MAX_AGE_SECONDS = 60
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age=(\d{1,9})(?=$|[,\s])", re.ASCII | re.IGNORECASE)


async def requested_freshness(request: Request) -> Freshness:
    # Reads `Request`, because a header parameter would appear in the OpenAPI document.
    found = _MAX_AGE.search(request.headers.get("cache-control", ""))
    return Freshness(min(int(found[1]), MAX_AGE_SECONDS)) if found else LATEST


# For GET routes that read telemetry.
Fresh = Annotated[Freshness, Depends(requested_freshness)]
