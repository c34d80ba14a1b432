"""A provider and a service that uses it, shared by the tests of a module."""

from collections.abc import AsyncIterator, Iterator

import pytest

from support.identity_provider import IdentityProvider, SigningKey, identity_provider
from support.service import Service
from support.single_sign_on import Visitor, person_claims, start_sso_service


@pytest.fixture(scope="module")
def _running_provider() -> Iterator[IdentityProvider]:
    with identity_provider() as running:
        yield running


@pytest.fixture(scope="module")
def _first_key(_running_provider: IdentityProvider) -> SigningKey:
    return _running_provider.key


@pytest.fixture
def provider(_running_provider: IdentityProvider, _first_key: SigningKey) -> IdentityProvider:
    """A provider that behaves, until the test tells it otherwise."""
    running = _running_provider
    running.key = _first_key
    running.claims = person_claims("ann@example.com")
    for answers in (running.userinfo, running.replaced, running.metadata, running.broken):
        answers.clear()
    running.requests.clear()
    return running


@pytest.fixture(scope="module")
async def service(
    _running_provider: IdentityProvider, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    async with start_sso_service(tmp_path_factory.mktemp("sso"), _running_provider) as running:
        yield running


@pytest.fixture
async def visitor(service: Service) -> AsyncIterator[Visitor]:
    opened = Visitor(service)
    async with opened.http:
        yield opened
