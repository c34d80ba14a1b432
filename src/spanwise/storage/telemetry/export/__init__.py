"""Trace downloads (CSV, JSON, Parquet) and workspace export and import, in bounded memory."""
