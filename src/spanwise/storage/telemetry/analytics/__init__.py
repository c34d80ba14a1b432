"""Answers analytics queries: from the rollup where it has the dimensions, else from the tables.

`run` chooses; `source_rows` selects the rows, `measures` aggregates them.
"""
