"""The data folder of a running service: other processes are refused and change nothing."""

import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from spanwise.demo.setup import MARKER
from support.process import run_command, run_service
from support.spans import new_span

EMAIL = "ann@example.com"


def stored(folder: Path) -> set[Path]:
    """Return the files that only the owner may add or remove."""
    owned = ("journal/*", "telemetry/*", "secret.key", MARKER)
    return {path for pattern in owned for path in (folder / "data").glob(pattern)}


@pytest.mark.timeout(900)
def test_a_second_process_is_refused_and_a_transfer_after_a_kill_is_complete(
    tmp_path: Path,
) -> None:
    with run_service(tmp_path) as service, service.sign_up(EMAIL) as http:
        # So that `demo --fresh` regards the folder as a demo's.
        (tmp_path / "data" / MARKER).write_text("{}")
        before = stored(tmp_path)
        for command in (
            ("serve",),
            ("demo", "--fresh"),
            ("export", "out", "--email", EMAIL),
            ("import", "out", "--email", EMAIL),
            ("doctor", "--rebuild"),
            ("migrate",),
        ):
            ended = run_command(tmp_path, *command)
            assert ended.returncode == 1, (command, ended.stderr)
            (line,) = ended.stderr.splitlines()
            assert line.startswith("spanwise: the "), line
            assert "is in use by another process" in line
            assert stored(tmp_path) == before, command
        assert not (tmp_path / "out").exists()
        doctor = run_command(tmp_path, "doctor")
        assert doctor.returncode == 0, doctor.stdout
        assert "ok    telemetry: a service is running" in doctor.stdout
        assert "Exception" not in doctor.stdout + doctor.stderr
        spans = [new_span(datetime.now(UTC)) for _ in range(10)]
        assert http.post("/spans", json={"spans": spans}).status_code == 201
        service.process.send_signal(signal.SIGKILL)
        service.process.wait()
    for name in ("export", "import"):
        ended = run_command(tmp_path, name, "out", "--email", EMAIL.title())
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout == "out: 10 spans, 0 logs, 0 signals, 0 metric points\n"
    (tmp_path / "data" / "catalog.db").unlink()
    doctor = run_command(tmp_path, "doctor")
    assert doctor.returncode == 1
    assert "wrong catalog: the catalog at " in doctor.stdout
    assert "is missing or empty, but the telemetry store has data" in doctor.stdout
