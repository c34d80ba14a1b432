"""An unmodified application shows up after two environment variables are set, and nothing else."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from support.process import Running, run_service
from support.servers import free_port

APPS = Path(__file__).parent / "apps"


# One process for the module.
pytestmark = pytest.mark.xdist_group("e2e sdk")


@pytest.fixture(scope="module")
def grpc_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, grpc_port: int) -> Iterator[Running]:
    with run_service(tmp_path_factory.mktemp("sdk"), otlp_grpc_port=grpc_port) as running:
        yield running


def run_app(command: list[str], endpoint: str, key: str, folder: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    given = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_HEADERS": f"x-api-key={key}",
    }
    finished = _run(command, folder, kept | given)
    assert finished.returncode == 0, finished.stderr
    assert "Failed" not in finished.stderr, finished.stderr


def assert_shows_up(http: httpx.Client) -> None:
    (listed,) = http.get("/spans/traces").raise_for_status().json()["data"]
    assert listed["agentName"] == "concierge"
    assert listed["agentId"].startswith("agt_")
    assert listed["models"] == ["gpt-4o"]
    assert listed["tools"] == ["find_room"]
    assert (listed["inputTokens"], listed["outputTokens"]) == (1000, 200)
    # 2.50 and 10.00 dollars per million tokens.
    assert listed["cost"] == pytest.approx(1000 * 2.5e-6 + 200 * 10e-6)
    assert (listed["sessionId"], listed["userId"]) == ("s-1", "u-1")
    assert listed["environment"] == "test"
    trace = http.get(f"/spans/traces/{listed['traceId']}").raise_for_status().json()["data"]
    assert sorted(span["kind"] for span in trace["spans"]) == ["agent", "llm", "tool"]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_python_application_shows_up_with_agent_model_tokens_and_cost(
    service: Running, grpc_port: int, tmp_path: Path, protocol: str
) -> None:
    with service.sign_up(f"{protocol}@example.com") as http:
        key = http.post("/keys", json={"name": "app"}).raise_for_status().json()["data"]["key"]
        endpoint = f"{service.api}/otlp" if protocol == "http" else f"http://127.0.0.1:{grpc_port}"
        run_app([sys.executable, str(APPS / "agent.py"), protocol], endpoint, key, tmp_path)
        assert_shows_up(http)


@pytest.fixture(scope="module")
def node_app(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """A folder with the application for Node and its packages, installed once per lock file."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm on PATH")
    lock = hashlib.sha256((APPS / "package-lock.json").read_bytes()).hexdigest()[:16]
    installed = pytestconfig.cache.mkdir("node_apps") / lock
    if not installed.exists():
        folder = tmp_path_factory.mktemp("node")
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(APPS / name, folder)
        finished = _run([npm, "ci", "--no-audit", "--no-fund"], folder, dict(os.environ))
        if finished.returncode != 0:
            pytest.skip(f"the packages cannot be installed: {finished.stderr[-300:]}")
        unfinished = installed.with_name(f"{lock}-{os.getpid()}")
        shutil.move(folder, unfinished)
        unfinished.rename(installed)
    app = tmp_path_factory.mktemp("app")
    shutil.copy(APPS / "agent.mjs", app)
    (app / "node_modules").symlink_to(installed / "node_modules")
    return app


@pytest.mark.parametrize("protocol", ["http", pytest.param("grpc", marks=pytest.mark.long)])
def test_a_node_application_shows_up_with_agent_model_tokens_and_cost(
    service: Running, grpc_port: int, node_app: Path, protocol: str
) -> None:
    with service.sign_up(f"node-{protocol}@example.com") as http:
        key = http.post("/keys", json={"name": "app"}).raise_for_status().json()["data"]["key"]
        endpoint = f"{service.api}/otlp" if protocol == "http" else f"http://127.0.0.1:{grpc_port}"
        run_app(["node", "agent.mjs", protocol], endpoint, key, node_app)
        assert_shows_up(http)


def _run(
    command: list[str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
