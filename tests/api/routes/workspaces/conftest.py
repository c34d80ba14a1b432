"""A team on the shared service."""

import pytest

from support.service import Service
from support.teams import Team, make_team


@pytest.fixture
async def team(service: Service) -> Team:
    return await make_team(service)
