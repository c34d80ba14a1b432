"""A browser's way through single sign-on, without a browser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from support.identity_provider import IdentityProvider
from support.service import DASHBOARD, OPERATOR, SESSION_COOKIE, Person, Service, start_service

START = "/api/auth/oidc/start"
CALLBACK = "/api/auth/oidc/callback"


@asynccontextmanager
async def start_sso_service(
    folder: Path, provider: IdentityProvider, **settings: Any
) -> AsyncIterator[Service]:
    """A service with an operator and with this provider."""
    given = {"public_url": "http://test", **provider.settings, **settings}
    async with start_service(folder, **given) as service:
        if service.services.settings.password_login:
            await service.sign_up(OPERATOR)
        yield service


class Visitor:
    """A browser with its own cookies."""

    def __init__(self, service: Service) -> None:
        self.http = service.client_at("127.0.0.1")

    async def start(self, **query: str) -> str:
        """Start a sign-in; return where the provider would be asked."""
        answer = await self.http.get(START, params=query)
        assert answer.status_code == 303, answer.text
        return answer.headers["Location"]

    async def ask_provider(self, url: str) -> str:
        """Let the provider authorize; return the callback."""
        async with httpx.AsyncClient() as http:
            answer = await http.get(url)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    async def come_back(self, callback: str) -> dict[str, str]:
        """Open the callback; return the query of the dashboard's sign-in page."""
        answer = await self.http.get(callback)
        assert answer.status_code == 303, answer.text
        parts = urlsplit(answer.headers["Location"])
        assert (parts.netloc, parts.path, parts.fragment) == ("", "/login", "")
        return {name: values[0] for name, values in parse_qs(parts.query).items()}

    async def sign_in(self, **query: str) -> dict[str, str]:
        return await self.come_back(await self.ask_provider(await self.start(**query)))

    async def ask_who_is_signed_in(self) -> httpx.Response:
        return await self.http.get("/api/users/profile", headers=DASHBOARD)

    async def find_person(self) -> Person:
        """Return who is signed in now."""
        answer = await self.ask_who_is_signed_in()
        assert answer.status_code == 200, answer.text
        user = answer.json()["data"]
        [token] = [c.value for c in self.http.cookies.jar if c.name.startswith(SESSION_COOKIE)]
        return Person(self.http, user["email"], token or "", user)


def person_claims(email: str, **more: Any) -> dict[str, Any]:
    return {"email": email, "email_verified": True, "name": "Ann Example", **more}


async def audit_entries(service: Service, **query: str) -> list[dict[str, Any]]:
    """The newest audit entries of the installation."""
    operator = await service.log_in(OPERATOR)
    entries: list[dict[str, Any]] = await operator.data("GET", "/admin/audit", params=query)
    return entries
