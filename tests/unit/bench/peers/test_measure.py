"""What is sent to all products, what the operating system knows of them, and wrong answers."""

import os
import subprocess
import sys
import time
from pathlib import Path

from bench.__main__ import MEASURE, find_default_parts
from bench.payload import RARE_WORD, SPANS_PER_TRACE, read_pool
from bench.peers.measure import describe_difference, measure_folder
from bench.peers.payload import BODY_SPANS, WARM_UP_REQUESTS, write_payload
from bench.peers.process_tree import OtherLoad, PeakMemory, cpu_seconds, find_tree


def test_peers_are_measured_only_on_request() -> None:
    assert "peers" in MEASURE
    assert "peers" not in find_default_parts()


def test_the_payload_is_described(tmp_path: Path) -> None:
    payload = write_payload(tmp_path, 3 * BODY_SPANS)
    contents = payload.describe(2)
    assert payload.bodies == len(read_pool(payload.pool)) == 3
    assert contents.spans == 2 * BODY_SPANS + (WARM_UP_REQUESTS + 1) * SPANS_PER_TRACE
    assert contents.traces == len(set(contents.trace_ids)) == contents.spans // SPANS_PER_TRACE
    assert 0 < contents.errors < contents.traces
    assert contents.tokens > contents.traces


def test_one_trace_of_the_payload_has_the_rare_word(tmp_path: Path) -> None:
    payload = write_payload(tmp_path, BODY_SPANS)
    bodies = [*payload.warm_up, *(body.data for body in read_pool(payload.pool))]
    assert sum(body.count(RARE_WORD.encode()) for body in bodies) == 1


def test_a_wrong_answer_becomes_a_note() -> None:
    answer, expected = {"traces": 9, "errors": 2}, {"traces": 2517, "errors": 2}
    assert describe_difference("MLflow", "series", answer, expected) == (
        "MLflow answers the question `series` with 9 instead of 2,517 traces."
    )


def test_a_folder_is_measured_with_its_subfolders(tmp_path: Path) -> None:
    before = measure_folder(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_bytes(b"x" * 100_000)
    assert measure_folder(tmp_path) - before >= 100_000


def test_a_process_tree_has_its_memory_and_cpu_time_added_up() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in find_tree(os.getpid())
        with PeakMemory(os.getpid()) as memory:
            pass
        child.kill()
    assert memory.megabytes > 10
    assert cpu_seconds(os.getpid()) > 0


def test_the_load_of_others_is_a_share_of_the_machine() -> None:
    others = OtherLoad(os.getpid())
    time.sleep(0.3)
    assert 0 <= others.share() < 1.5
