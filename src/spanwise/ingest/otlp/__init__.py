"""OTLP: decodes and validates exports and frames them for the engine.

Invariants:
- Spans that need no change are passed on byte for byte; the engine parses the spans.
- Only fields that OTLP defines reach the engine, so a sender cannot name another workspace.
- Ids that ingest derives (calls of coding agents, evaluation signals) depend on the content only,
  so an export that is sent again is stored once.
"""
