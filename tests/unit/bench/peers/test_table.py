"""The tables of the comparison."""

from typing import Any

from bench.peers.table import tabulate_peers


def run(product: str, spans: int, **reads: float | None) -> dict[str, Any]:
    figures = {"list": 1.0, "trace": 2.0, "summary": 3.0, "series": 4.0, "search": 5.0}
    return {
        "product": product,
        "version": "1.2",
        "spans": spans,
        "stored_per_second": 1000.0,
        "ack_p50_ms": 1.0,
        "ack_p99_ms": 2.0,
        "disk_bytes_per_span": 500.0,
        "peak_memory_mb": 300.0,
        "start_seconds": 4.0,
        "load_of_others": 0.25,
        "reads": figures | reads,
        "notes": [f"{product} is different."],
    }


def test_runs_of_one_product_differ_by_their_size() -> None:
    runs = [run("Spanwise", 20_000), run("Phoenix", 8000), run("Spanwise", 8000)]
    writes, reads = tabulate_peers({"body_spans": 200, "runs": runs, "skipped": []})
    labels = ["Spanwise 1.2", "Phoenix 1.2", "Spanwise 1.2, 8,000 spans"]
    assert list(writes.rows) == list(reads.rows) == labels


def test_a_question_without_an_answer_is_a_dash_and_notes_appear_once() -> None:
    runs = [run("Phoenix", 8000, search=None), run("Phoenix", 4000)]
    _, reads = tabulate_peers({"body_spans": 200, "runs": runs, "skipped": []})
    lines = reads.to_markdown().splitlines()
    assert "| Phoenix 1.2 | 1.0 | 2.0 | 3.0 | 4.0 | \N{EN DASH} |" in lines
    assert lines.count("- Phoenix is different.") == 1


def test_a_skipped_peer_is_noted_under_the_table() -> None:
    sentence = "MLflow 1.2 was skipped: it could not be installed."
    figures = {"body_spans": 200, "runs": [run("Spanwise", 8000)], "skipped": [sentence]}
    assert tabulate_peers(figures)[0].to_markdown().endswith(f"\n\n- {sentence}")
