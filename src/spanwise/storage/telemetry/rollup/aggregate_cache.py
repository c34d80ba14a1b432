"""Adds up the rows of a source, and remembers what the rollup's rows add up to.

Clean hours, days and months do not change until the next sweep, so people who look again read only
what came in since. The engine needs longer to plan a question of three tables than to answer it.
"""

import asyncio
import time
from collections.abc import Callable
from operator import add
from typing import Any

from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.source import Source

# Cache TTL: rows removed by another replica's retention may be counted this much longer.
REMEMBERED_SECONDS = 60.0
# Of all that is remembered together: some 30 MB.
REMEMBERED_VALUES = 500_000

# Keys of a group -> its sums: numbers, or lists, which are joined.
Sums = dict[tuple[Any, ...], tuple[Any, ...]]


class SumReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # The oldest first.
        self._remembered: dict[tuple[object, ...], tuple[float, Sums]] = {}
        self._remembered_values = 0
        # How often all was forgotten: what was read before is not remembered after.
        self._forgotten = 0

    def forget(self) -> None:
        """Read the rollup anew: rows of it are gone although no sweep moved its mark."""
        self._forgotten += 1
        self._remembered.clear()
        self._remembered_values = 0

    async def read(
        self, source: Source, ask: Callable[[Source], str], *, keys: int, tag: str
    ) -> Sums:
        """Return the sums of every group. `ask` makes the SQL; its first columns are the keys."""

        async def fetch(part: Source) -> Sums:
            sql = f"{ask(part)} {source.settings}"
            rows = await self._engine.fetch(sql, part.parameters, tag=tag)
            found = (tuple(row.values()) for row in rows)
            return {values[:keys]: values[keys:] for values in found}

        async def recall(part: Source) -> Sums:
            question = (self._forgotten, part.swept_until, ask(part), repr(part.parameters))
            known = self._recall(question)
            if known is None:
                known = await fetch(part)
                self._remember(question, known)
            return known

        settled, moving = source.split()
        parts = [recall(settled)] if settled else []
        parts += [fetch(moving)] if moving else []
        return _join(await asyncio.gather(*parts))

    def _recall(self, question: tuple[object, ...]) -> Sums | None:
        until, known = self._remembered.get(question, (0.0, None))
        return known if time.monotonic() < until else None

    def _remember(self, question: tuple[object, ...], sums: Sums) -> None:
        self._forget(question)
        self._remembered[question] = time.monotonic() + REMEMBERED_SECONDS, sums
        self._remembered_values += size_of(sums)
        while self._remembered_values > REMEMBERED_VALUES:
            self._forget(next(iter(self._remembered)))

    def _forget(self, question: tuple[object, ...]) -> None:
        if question in self._remembered:
            _, sums = self._remembered.pop(question)
            self._remembered_values -= size_of(sums)


def size_of(sums: Sums) -> int:
    """How much there is to remember: one for the question, and all its values."""
    return 1 + sum(
        len(value) if isinstance(value, list) else 1 for values in sums.values() for value in values
    )


def _join(parts: list[Sums]) -> Sums:
    joined: Sums = {}
    for part in parts:
        for key, values in part.items():
            joined[key] = tuple(map(add, joined[key], values)) if key in joined else values
    return joined
