"""Group commit: queue, journal writer, applier and visibility behind `pipeline.Pipeline`.

Invariants:
- A request is acknowledged only after the journal has it on disk: it survives `kill -9`.
- Versions ascend in journal order, and records are applied in journal order.
- A record leaves the journal only after the store has it; applying it twice changes nothing.
- A read sees everything acknowledged before it, unless its `Freshness` allows less.
- While the store fails, nothing is acknowledged and reads continue.
"""
