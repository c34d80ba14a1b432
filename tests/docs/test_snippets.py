"""The snippets of the page "Get started" work as they are.

Most need packages that are not installed here: the recorder ran them, and `test_clients.py` checks
that the export was recorded from the file as it is.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from golden.recorded_clients import Export
from support.process import run_service

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "snippets"
SNIPPETS = sorted(FOLDER.iterdir())
MIN_SNIPPETS = 15


def test_there_are_snippets_for_fifteen_clients_in_two_languages() -> None:
    assert len(SNIPPETS) >= MIN_SNIPPETS
    assert {path.suffix for path in SNIPPETS} == {".py", ".ts"}


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.name)
def test_a_snippet_installs_what_it_was_recorded_with(snippet: Path) -> None:
    recording = Export(f"snippets/{snippet.stem}").recording
    assert recording["program"] == f"docs/snippets/{snippet.name}"
    command = snippet.read_text().split("\n")[0]
    tool = "# pip install" if snippet.suffix == ".py" else "// npm install"
    assert command.startswith(f"{tool} ")
    packages = command.removeprefix(f"{tool} ").replace('"', "").split()
    assert packages
    assert set(packages) <= recording["packages"].keys()


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.name)
def test_a_snippet_has_no_address_and_no_key(snippet: Path) -> None:
    assert not re.search(r"https?://|localhost|sw_\w+|sk-", snippet.read_text())


def test_the_opentelemetry_snippet_sends_a_trace(tmp_path: Path) -> None:
    with run_service(tmp_path) as running, running.sign_up() as ann:
        body = {"name": "First application", "scopes": ["ingest"]}
        key = ann.post("/keys", json=body).json()["data"]["key"]
        page = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"{running.api}/otlp",
            "OTEL_EXPORTER_OTLP_HEADERS": f"x-api-key={key}",
            "OTEL_SERVICE_NAME": "my-first-agent",
        }
        program = FOLDER / "opentelemetry-python.py"
        subprocess.run([sys.executable, str(program)], env={**os.environ, **page}, check=True)
        [trace] = ann.get("/spans/traces").json()["data"]
    assert (trace["agentName"], trace["sessionId"], trace["userId"]) == (
        *("greeter", "session-1", "user-7"),
    )
    assert (trace["inputTokens"], trace["outputTokens"]) == (1200, 80)
    assert trace["cost"] == pytest.approx(1200 * 0.25e-6 + 80 * 2e-6)
