"""`spanwise export` and `spanwise import` from the command line."""

import subprocess
import sys
from pathlib import Path

from support.process import run_command

NOTHING = "out: 0 spans, 0 logs, 0 signals, 0 metric points\n"
HOLD = """
import sys
from pathlib import Path
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
engine = Engine.open(EngineAddress(folder=Path(sys.argv[1])), 512)
print("open", flush=True)
sys.stdin.readline()
engine.close()
"""


def run(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command(data_dir, *arguments, data_dir=data_dir)


def test_export_and_import_work_unless_a_running_service_holds_the_engine(
    tmp_path: Path,
) -> None:
    added = run(tmp_path, "user", "add", "ann@example.com", "--password", "correct horse battery")
    assert added.returncode == 0, added.stderr
    out = run(tmp_path, "export", "out", "--email", "Ann@example.com")
    assert (out.returncode, out.stdout) == (0, NOTHING)
    back = run(tmp_path, "import", "out", "--email", "ann@example.com")
    assert (back.returncode, back.stdout) == (
        0,
        "out: 0 spans, 0 logs, 0 signals, 0 metric points\n",
    )

    command = [sys.executable, "-c", HOLD, str(tmp_path / "telemetry")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as holder:  # type: ignore[call-overload]
        assert holder.stdout.readline() == "open\n"
        refused = run(tmp_path, "export", "again", "--email", "ann@example.com")
        holder.communicate("done\n", timeout=60)
    assert refused.returncode == 1
    assert "is in use by another process" in refused.stderr
    assert "Traceback" not in refused.stderr
