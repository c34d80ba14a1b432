"""Compiles filters to SQL, for lists, downloads and analytics of all kinds of rows.

`fields` names the SQL of every field, `operators` compiles conditions on the columns and attributes
of a row, `trace_filters` and `span_filters` those on traces and their spans. Callers' values are
always bound parameters.
"""
