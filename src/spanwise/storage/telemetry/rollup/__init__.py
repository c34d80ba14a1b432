"""The rollup: trace aggregates per month, day, hour and ten-second slice, for analytics.

The entry point is `rollup.Rollup`: `answer` runs a query from `queries` over a time range, and
`maintenance` keeps the tables up to date. Invariants:

- Every part of a range is read exactly once, from one table (`plan`).
- An aggregate is only read if no trace of its hour or slice was written after the watermark.
- A maintenance run recomputes aggregates from traces and never increments them, so that it can be
  repeated, interrupted, or run by several replicas at once.
"""
