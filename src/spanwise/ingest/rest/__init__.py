"""REST: validates spans, logs and signals in plain JSON.

Invariants:
- Spans and logs are converted to OTLP messages, so both APIs share one path to the store.
- A batch of the wrong shape is refused as a whole; otherwise only its invalid rows are rejected.
"""
