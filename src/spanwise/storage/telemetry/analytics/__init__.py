"""Answers analytics queries: from the rollup where it has the dimensions, else from the tables.

`run` chooses; `trace_rows` and `span_rows` select the rows, `measures` aggregates them.
"""
