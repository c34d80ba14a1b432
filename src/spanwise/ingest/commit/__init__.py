"""Group commit: queue, journal writer, applier and visibility behind `pipeline.Pipeline`.

Invariants:
- A request is acknowledged only after the journal has it on disk: it survives `kill -9`.
- Versions ascend in journal order, and records are applied in journal order.
- A record leaves the journal only after the store has it; applying it twice changes nothing.
- A read that waits for a `Freshness` sees all records that this requires.
- While the store fails, nothing is acknowledged and reads continue.
"""
