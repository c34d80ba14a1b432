"""Nobody forgets to leave out superseded spans."""

import re
from pathlib import Path

STORAGE = Path(__file__).parents[2] / "src" / "spanwise" / "storage" / "telemetry"
# What keeps spans, rather than showing them, sees all of them.
KEEPING = {
    *("schema/migrate.py", "export/transfer.py", "retention/expired_rows.py"),
    *("rows/batch_rows.py", "write/deletion.py", "write/repricing.py"),
    "rows/shown_spans.py",
}
SHOWN_SPANS = re.compile(r"import .*(IS_SHOWN|SUPERSEDED|shown_spans)")
# Keys of spans that were found, or a search for traces.
BY_KEY = {"failures/examples.py", "filters/trace_filters.py"}


def test_who_reads_spans_leaves_out_superseded_ones() -> None:
    readers = set()
    for path in STORAGE.rglob("*.py"):
        text = path.read_text()
        if re.search(r"\b(FROM|JOIN) spans\b", text) and not SHOWN_SPANS.search(text):
            readers.add(str(path.relative_to(STORAGE)))
    assert readers <= KEEPING | BY_KEY
