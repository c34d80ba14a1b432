"""Reads when units of an experiment were first exposed to a variant."""

from collections.abc import Sequence
from datetime import datetime

from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rows.decoding import in_utc


async def find_first_exposures(
    engine: Engine, workspace: str, experiment_id: str, unit_ids: Sequence[str]
) -> dict[str, datetime]:
    """Return the first exposure of each unit; units without one are absent."""
    rows = await engine.fetch(
        """SELECT unit_id, min(first_at) AS exposed_at FROM exposures
        WHERE workspace = {workspace:String} AND experiment_id = {experiment:String}
            AND unit IN (SELECT sipHash64(arrayJoin({units:Array(String)})))
            AND unit_id IN {units:Array(String)}
        GROUP BY unit_id""",
        {"workspace": workspace, "experiment": experiment_id, "units": list(unit_ids)},
        tag="find_first_exposures",
    )
    return {row["unit_id"]: in_utc(row["exposed_at"]) for row in rows}
