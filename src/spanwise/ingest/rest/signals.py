"""Encodes signals as journal records: fills in ids and times, and writes JSON rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from spanwise.ingest.commit.journal import Kind, Record
from spanwise.ingest.rest.bodies import NewSignal
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.telemetry.signals import Signal

# The end of a row without a version.
_NO_VERSION = b',"version":0}\n'


@dataclass(frozen=True)
class PreparedSignals:
    record: Record
    signals: list[Signal]


def prepare_signals(workspace: str, new: Sequence[NewSignal]) -> PreparedSignals:
    signals = [_complete(signal) for signal in new]
    rows = (
        orjson.dumps(_to_row(workspace, signal), option=orjson.OPT_APPEND_NEWLINE)
        for signal in signals
    )
    return PreparedSignals(Record(Kind.SIGNALS, b"".join(rows)), signals)


def set_row_versions(rows: bytes | bytearray, version: int) -> bytes | bytearray:
    """Return the rows with their version."""
    # No value can contain this: quotes and line breaks are escaped within JSON strings.
    return rows.replace(_NO_VERSION, b',"version":%d}\n' % version)


def _complete(new: NewSignal) -> Signal:
    now = utc_now()
    values = new.model_dump()
    values["id"] = new.id or new_id("sig")
    values["timestamp"] = new.timestamp or now
    return Signal(**values, created_at=now)


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


def _engine_time(moment: datetime) -> str:
    # The engine would read a number as seconds.
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
