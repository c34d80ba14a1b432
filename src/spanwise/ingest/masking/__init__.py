"""Masking: replaces or removes personal data and secrets in telemetry.

Invariants:
- `Receiver` masks every request of a workspace with rules before it is framed for the journal. The
  original bytes of such a request are never stored, also not fields that OTLP does not define.
- Masking a masked text changes nothing.
- The time of every detector is linear in the length of the text.
"""
