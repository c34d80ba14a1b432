"""Reads how fresh an answer must be from `Cache-Control: max-age=N` of the request.

Without the header, an answer includes everything that was acknowledged before the request. A page
that refreshes itself accepts an older answer, so it never waits for ingest.
"""

import re
from typing import Annotated

from fastapi import Depends, Request

from spanwise.model.freshness import LATEST, Freshness

MAX_AGE_SECONDS = 60
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age=(\d{1,9})(?=$|[,\s])", re.ASCII | re.IGNORECASE)


async def requested_freshness(request: Request) -> Freshness:
    # `Request` instead of a header parameter keeps this out of the OpenAPI document.
    found = _MAX_AGE.search(request.headers.get("cache-control", ""))
    return Freshness(min(int(found[1]), MAX_AGE_SECONDS)) if found else LATEST


# For GET routes that read telemetry.
Fresh = Annotated[Freshness, Depends(requested_freshness)]
