"""Reads signals: pages, and summaries per name.

A signal never copies fields of its trace; they are joined on read, so arrival order does not
matter. Of two rows with the same id, the later one counts.
"""
