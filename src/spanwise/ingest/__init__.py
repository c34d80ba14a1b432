"""Ingest: from an OTLP or REST body to records in the telemetry store.

Invariants:
- A request is answered with 2xx only after all its records are on disk in the journal.
- Body size, nesting depth, number of parts and memory held by all bodies together are bounded.
- Whatever the store refuses is stored without the fields that it refuses.
- The workspace of a row comes from the authenticated caller, never from the body.
"""
