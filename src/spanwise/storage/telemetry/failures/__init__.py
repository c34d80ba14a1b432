"""Failures: groups of failed spans that fail the same way.

`updates` derives the table `failures` from spans and traces, `groups` reads it. Invariants:

- A row is recomputed from its trace and never incremented, so that a run can be repeated,
  interrupted, or made by several replicas at once.
- Of a failure that its parents report too, only the span in which it began is kept.
- Nothing depends on the write path: a rebuild is a run from the beginning.
"""
