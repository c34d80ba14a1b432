"""A running service and its users, for tests."""

import atexit
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes
from email.policy import SMTPUTF8
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from spanwise.api.services import Services
from spanwise.model.api_model import utc_now
from spanwise.settings import load_settings
from spanwise.storage.catalog.database import driver_url
from spanwise.storage.catalog.migrate import migrate
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.wiring.http import create_app
from spanwise.wiring.services import open_services

CODES = {
    400: "VALIDATION_ERROR",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    429: "RATE_LIMITED",
    500: "INTERNAL_ERROR",
    503: "INTERNAL_ERROR",
}
PASSWORD = "correct horse battery"
# The admin of the service that tests share; other users of it are members.
OPERATOR = "operator@example.com"
# What the dashboard sends with each request, and how the name of its cookie begins.
DASHBOARD = {"X-Spanwise-Dashboard": "1"}
SESSION_COOKIE = "spanwise_session_"
_numbers = count(1)


@dataclass
class Person:
    """A signed-in user."""

    http: httpx.AsyncClient
    email: str
    token: str
    user: dict[str, Any]

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Call the API; by default a read includes what any key of the workspace has written."""
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Cache-Control": "no-cache",
            **options.pop("headers", {}),
        }
        return await self.http.request(method, f"/api{path}", headers=headers, **options)

    async def data(self, method: str, path: str, **options: Any) -> Any:
        """Call, expect success, and return the data in the envelope."""
        response = await self.call(method, path, **options)
        assert response.is_success, response.text
        return response.json()["data"]

    async def new_key(self, **body: Any) -> dict[str, Any]:
        key: dict[str, Any] = await self.data("POST", "/keys", json={"name": "a key", **body})
        return key


@dataclass
class Service:
    app: FastAPI
    http: httpx.AsyncClient
    services: Services
    data_dir: Path

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        return await self.http.request(method, f"/api{path}", **options)

    async def sign_up(self, email: str | None = None) -> Person:
        email = email or new_email()
        body = {"email": email, "password": PASSWORD}
        created = await self.call("POST", "/auth/register", json=body)
        assert created.status_code == 201, created.text
        return await self.log_in(email)

    async def log_in(self, email: str, password: str = PASSWORD) -> Person:
        body = {"email": email, "password": password}
        response = await self.call("POST", "/auth/login", json=body)
        assert response.status_code == 200, response.text
        data = response.json()["data"]
        return Person(self.http, email, data["token"], data["user"])

    def client_at(self, address: str) -> httpx.AsyncClient:
        """A client that calls from another address."""
        return _client_of(self.app, address)

    async def call_with_key(self, secret: str, method: str, path: str) -> httpx.Response:
        return await self.call(method, path, headers={"x-api-key": secret})

    async def mails_to(self, email: str) -> list[str]:
        """The texts of the mails in the outbox for this address, oldest first."""
        await self.services.identity.accounts._mailer.drain()
        mails = [path.read_bytes() for path in sorted((self.data_dir / "outbox").glob("*.eml"))]
        # Parsing is slow, and a shared service has mails of all tests. Headers encode non-ASCII.
        if email.isascii():
            mails = [mail for mail in mails if email.encode() in mail]
        messages = [message_from_bytes(mail, policy=SMTPUTF8) for mail in mails]
        return [m.get_content() for m in messages if m["To"] == email]


def new_email() -> str:
    """An address that no other test has."""
    return f"person{next(_numbers)}@example.com"


def link_token(mail: str) -> str:
    """The token in the link of a mail."""
    found = re.search(r"[?]token=([\w-]+)", mail)
    assert found, mail
    return found[1]


def assert_error(response: httpx.Response, status: int, *fields: str) -> None:
    """Check that the response is this error in the envelope, with exactly these fields."""
    assert response.status_code == status, response.text
    body = response.json()
    assert body["success"] is False
    assert body["error"]["code"] == CODES[status]
    assert body["error"]["message"]
    assert set(body["error"]) <= {"message", "code", "details"}
    assert sorted({d["field"] for d in body["error"].get("details", [])}) == sorted(fields)


@cache
def shared_telemetry_url() -> str:
    """The engine of this test process. It can have one folder only, so all services share it."""
    folder = Path(tempfile.mkdtemp(prefix="spanwise-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # One handle stays open, or the engine would restart for every test.
    atexit.register(Engine.open(EngineAddress(folder=folder / "telemetry"), 2048).close)
    return f"chdb://{folder / 'telemetry'}"


@cache
def migrated_catalog() -> Path:
    """An empty catalog with all migrations, to be copied: migrating is slower than most tests."""
    folder = Path(tempfile.mkdtemp(prefix="spanwise-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "catalog.db"
    migrate(driver_url(f"sqlite:///{path}"))
    return path


@asynccontextmanager
async def start_service(
    data_dir: Path, clock: Callable[[], datetime] = utc_now, /, **settings: Any
) -> AsyncIterator[Service]:
    """Open a service in this process. Limits are off unless a test is about them."""
    if "catalog_url" not in settings:
        _copy_catalog(data_dir)
    unlimited = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}
    engine = {"telemetry_url": shared_telemetry_url(), "memory_limit_mb": 2048}
    loaded = load_settings(data_dir=data_dir, **{**unlimited, **engine, **settings})
    async with open_services(loaded, clock) as services:
        app = create_app(services)
        async with _client_of(app, "127.0.0.1") as http:
            yield Service(app, http, services, data_dir)


def _copy_catalog(data_dir: Path) -> None:
    if not (data_dir / "catalog.db").exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(migrated_catalog(), data_dir / "catalog.db")


def _client_of(app: FastAPI, address: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, client=(address, 40_000))
    return httpx.AsyncClient(transport=transport, base_url="http://test")
