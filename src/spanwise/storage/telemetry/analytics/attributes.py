"""Reads which attributes spans have, and which values, for suggestions."""

from spanwise.model.dashboards.queries import AttributeCount
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.conventions import OWN_PREFIX
from spanwise.model.times import BoundedRange, TimeRange
from spanwise.storage.telemetry.engine.attribute_text import own_attribute
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.filters.fields import mark_heavy
from spanwise.storage.telemetry.rows.shown_spans import shown_spans

# Longer values are not suggested; a filter could not name them.
_MAX_BYTES = 512


async def count_attributes(
    engine: Engine,
    workspace: str,
    period: BoundedRange,
    key: str | None,
    search: str | None,
    page: PageRequest,
) -> Listing[AttributeCount]:
    """Return the keys of attributes or, with a key, its values; the most frequent first."""
    within = TimeRange(period.start, period.end)
    where = Conditions(workspace)
    where.within("start", within)
    where.within_hours("hour", within)
    mark_heavy(where, within)
    found = Conditions(workspace, clauses=[f"length(name) BETWEEN 1 AND {_MAX_BYTES}"])
    if key is None:
        name = "arrayJoin(attributes.keys)"
        found.add(f"NOT startsWith(name, '{OWN_PREFIX}')")
    else:
        attribute = own_attribute(where.bind(key))
        name = attribute.text
        where.add(attribute.exists)
    if search:
        found.add(f"positionCaseInsensitiveUTF8(name, {where.bind(search)}) > 0")
    rows = await engine.fetch(
        f"""SELECT name, amount, count() OVER () AS total FROM (
            SELECT name, count() AS amount FROM (
                {shown_spans(f"{name} AS name", where.sql)})
            WHERE {found.sql} GROUP BY name)
        ORDER BY amount DESC, name LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="count_attributes",
    )
    if not rows and page.skip:
        first = await count_attributes(engine, workspace, period, key, search, PageRequest(1))
        return Listing([], first.total)
    counts = [AttributeCount(name=row["name"], count=row["amount"]) for row in rows]
    return Listing(counts, rows[0]["total"] if rows else 0)
