"""Records of JSON rows: signals, deletions of traces, and exposures to variants."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from spanwise.ingest.records.record import Kind, Record
from spanwise.model.telemetry.signals import Signal
from spanwise.storage.telemetry.write.deletion import TraceDeletion

# The end of a row without a version.
_NO_VERSION = b',"version":0}\n'


def encode_signals(workspace: str, signals: Sequence[Signal]) -> Record:
    rows = (
        orjson.dumps(_to_row(workspace, signal), option=orjson.OPT_APPEND_NEWLINE)
        for signal in signals
    )
    return Record(Kind.SIGNALS, b"".join(rows))


def set_row_versions(rows: bytes | bytearray, version: int) -> bytes | bytearray:
    """Return the rows with their version."""
    # No value can contain this: quotes and line breaks are escaped within JSON strings.
    return rows.replace(_NO_VERSION, b',"version":%d}\n' % version)


def _to_row(workspace: str, signal: Signal) -> dict[str, Any]:
    """Return every column of the signals table; none of them is nullable."""
    return {
        "workspace": workspace,
        "id": signal.id,
        "name": signal.signal_name,
        "value": signal.value,
        "time": _engine_time(signal.timestamp),
        "created": _engine_time(signal.created_at),
        "trace_id": signal.trace_id or "",
        "span_id": signal.span_id or "",
        "agent_name": signal.agent_id or "",
        "session_id": signal.session_id or "",
        "user_id": signal.user_id or "",
        "experiment_id": signal.experiment_id or "",
        "variant": signal.variant or "",
        "comment": signal.comment or "",
        "metadata": orjson.dumps(signal.metadata).decode() if signal.metadata else "",
        "version": 0,
    }


def _engine_time(time: datetime) -> str:
    # The engine would read a number as seconds.
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def encode_deletion(workspace: str, trace_id: str) -> Record:
    """Return the deletion of a trace, which is applied in order with the spans."""
    return Record(Kind.DELETIONS, orjson.dumps({"workspace": workspace, "trace_id": trace_id}))


def decode_deletion(record: Record) -> TraceDeletion:
    return TraceDeletion(**orjson.loads(record.payload), version=record.version)


def encode_exposures(
    workspace: str, experiment_id: str, at: datetime, exposed: Iterable[tuple[str, int]]
) -> Record:
    """Return one row per unit and its variant, given as an index in the experiment's list."""
    # Text, because the engine would read an integer as seconds.
    first_at = f"{at.timestamp():.6f}"
    rows = [
        orjson.dumps(
            {
                "workspace": workspace,
                "experiment_id": experiment_id,
                "unit_id": unit_id,
                "first_at": first_at,
                "least_variant": variant,
                "greatest_variant": variant,
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )
        for unit_id, variant in exposed
    ]
    return Record(Kind.EXPOSURES, b"".join(rows))
