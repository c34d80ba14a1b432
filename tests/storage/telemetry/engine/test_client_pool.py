"""Merges run at a low priority, and query threads keep the normal one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spanwise.storage.telemetry.engine.client_pool import MERGE_NICENESS, THREADS_HAVE_PRIORITIES

# A merge reads this many columns at once, each in a thread of the pool that queries share.
_THREADS_PER_MERGE = 64

# In a child process: the engine's threads live as long as the process that loaded it.
_START = """
import sys
from pathlib import Path
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress

engine = Engine.open(EngineAddress(folder=Path(sys.argv[1])), 2048)
with engine.client() as client:
    client.command("CREATE TABLE merged (number UInt8) ENGINE = MergeTree ORDER BY number")
engine.lower_merge_priority()
for task in Path("/proc/self/task").iterdir():
    name, _, fields = (task / "stat").read_text().partition("(")[2].rpartition(") ")
    print(fields.split()[16], name)
"""


@pytest.mark.skipif(not THREADS_HAVE_PRIORITIES, reason="threads have no priority here")
def test_query_threads_are_started_before_low_priority_merges(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", _START, str(tmp_path)], check=True, capture_output=True, text=True
    )
    threads = [line.split(maxsplit=1) for line in run.stdout.splitlines()]
    lowered = {name for niceness, name in threads if int(niceness) == MERGE_NICENESS}
    assert lowered == {"MergeMutate"}
    inherited = str(os.getpriority(os.PRIO_PROCESS, 0))
    assert threads.count([inherited, "ThreadPool"]) > _THREADS_PER_MERGE
