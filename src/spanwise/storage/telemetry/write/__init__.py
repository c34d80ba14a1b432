"""Writes batches, and everything derived from them: costs, traces, corrections, deletions.

Corrections (repricing, superseded calls) write a row with a version between the original and the
next one that ingest may assign. The row of a trace is recomputed from its spans whenever one
arrives, so a resent span counts once and every aggregation is safe to repeat. It is stored under
the start of the trace's earliest root span; when that changes, the row under the old start is
deleted. A trace without a root has no row.
"""
