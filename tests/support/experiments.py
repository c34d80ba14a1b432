"""Experiments for tests."""

from typing import Any

from support.service import Person

TWO = [{"key": "control"}, {"key": "treatment"}]


async def create(person: Person, **fields: Any) -> dict[str, Any]:
    body = {"name": "shorter prompt", "variants": TWO, **fields}
    created: dict[str, Any] = await person.data("POST", "/experiments", json=body)
    return created


async def start(person: Person, **fields: Any) -> dict[str, Any]:
    """Create an experiment and start it."""
    created = await create(person, **fields)
    started: dict[str, Any] = await person.data("POST", f"/experiments/{created['id']}/start")
    return started
