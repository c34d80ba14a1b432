"""Encodes trace deletions as journal records, which are applied in order with the spans."""

import orjson

from spanwise.ingest.commit.journal import Kind, Record
from spanwise.storage.telemetry.write.deletion import TraceDeletion


def prepare_deletion(workspace: str, trace_id: str) -> Record:
    payload = orjson.dumps({"workspace": workspace, "trace_id": trace_id})
    return Record(Kind.DELETIONS, payload)


def read_deletion(record: Record) -> TraceDeletion:
    return TraceDeletion(**orjson.loads(record.payload), version=record.version)
