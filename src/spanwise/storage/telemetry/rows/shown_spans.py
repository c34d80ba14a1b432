"""Selects the spans that people may see: all but superseded ones.

A span is superseded when it was derived from a log record and the agent's own span of the call is
stored, too (`write/derived_calls.py`). A test checks that no other module reads spans on its own.
"""

# The kind of such spans, which stay stored.
SUPERSEDED = "superseded"
# SQL for whether a span is shown. Of several versions of a span, only the latest may be asked.
IS_SHOWN = f"kind != '{SUPERSEDED}'"


def shown_spans(columns: str, where: str, *, prewhere: str = "", final: str = "FINAL") -> str:
    """SQL that selects the shown spans which meet a condition.

    Without FINAL, outdated versions of spans are among them.
    """
    early = f"PREWHERE {prewhere}" if prewhere else ""
    return f"SELECT {columns} FROM spans {final} {early} WHERE {where} AND {IS_SHOWN}"
