"""How fresh an answer has to be: it holds all that was acknowledged, or all but the last seconds.

`Cache-Control: max-age=5` in a request is HTTP's way of saying that an answer five seconds old will
do. A page that refreshes itself says so, and is then never kept waiting by ingest.
"""

import re
from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Request

from spanwise.ingest.commit.pipeline import accepted_age
from spanwise.model.freshness import LATEST, Freshness

MAX_SECONDS = 60
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age=(\d{1,9})(?=$|[,\s])", re.ASCII | re.IGNORECASE)


def note_accepted_age(headers: Mapping[str, str]) -> None:
    """Let what this request reads be as old as its headers allow."""
    accepted_age.set(parse_freshness(headers).max_age_seconds)


def parse_freshness(headers: Mapping[str, str]) -> Freshness:
    found = _MAX_AGE.search(headers.get("cache-control", ""))
    return Freshness(min(int(found[1]), MAX_SECONDS)) if found else LATEST


async def requested_freshness(request: Request) -> Freshness:
    """Return the freshness that a request asks for in `Cache-Control`."""
    return parse_freshness(request.headers)


Fresh = Annotated[Freshness, Depends(requested_freshness)]
