"""`oidc-provider-mock`, a real provider from the package index, in its own process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from support.servers import free_port, wait_for_port


@dataclass(frozen=True)
class ProviderProcess:
    issuer: str

    @property
    def settings(self) -> dict[str, str]:
        # Every client is known, with any secret.
        return {"oidc_issuer": self.issuer, "oidc_client_id": "spanwise", "oidc_client_secret": "x"}

    def add_person(self, subject: str, **claims: Any) -> None:
        url = f"{self.issuer}/users/{quote(subject)}"
        httpx.put(url, json=claims, timeout=30).raise_for_status()


@contextmanager
def run_provider() -> Iterator[ProviderProcess]:
    port = free_port()
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_port(port)
            yield ProviderProcess(f"http://localhost:{port}")
        finally:
            process.kill()
