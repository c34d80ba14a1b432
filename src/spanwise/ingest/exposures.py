"""Encodes exposures (which unit was given which variant) as journal records."""

from collections.abc import Iterable
from datetime import datetime

import orjson

from spanwise.ingest.commit.journal import Kind, Record


def prepare_exposures(
    workspace: str, experiment_id: str, at: datetime, exposed: Iterable[tuple[str, int]]
) -> Record:
    """Return one row per unit; a variant is its index in the experiment's list."""
    # Text, because the engine would read an integer as seconds.
    first_at = f"{at.timestamp():.6f}"
    rows = [
        orjson.dumps(
            {
                "workspace": workspace,
                "experiment_id": experiment_id,
                "unit_id": unit_id,
                "first_at": first_at,
                "least_variant": variant,
                "greatest_variant": variant,
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )
        for unit_id, variant in exposed
    ]
    return Record(Kind.EXPOSURES, b"".join(rows))
