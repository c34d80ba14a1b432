"""Compiles filters on traces and spans to SQL, for lists, downloads and analytics.

`fields` names the SQL of every field, `operators` compiles one condition, `trace_filters` and
`span_filters` all conditions of a filter. Callers' values are always bound parameters.
"""
