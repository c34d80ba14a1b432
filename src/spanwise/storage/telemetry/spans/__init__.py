"""Spans and logs: extraction from OTLP, reads and deletion.

Of two rows of one span, the one with the higher version counts. Corrections (repricing, superseded
calls) write a row with a version between the original and the next one that ingest may assign.
Reads find a trace's rows by primary key, through the hours in `trace_bounds`.
"""
