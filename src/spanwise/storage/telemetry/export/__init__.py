"""Trace downloads (CSV, JSONL, Parquet), and export and import of a whole workspace.

Both read and write in chunks of bounded size, so memory does not grow with the data. Importing the
same file twice changes nothing: rows keep their versions.
"""
