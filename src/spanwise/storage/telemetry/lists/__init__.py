"""Reads the pages of lists: by time, by rank, or from all rows that match.

A filter is compiled once, to `Conditions`; `pages` reads a page of the rows that meet them. Traces,
spans, sessions, neighbours and downloads are lists.
"""
