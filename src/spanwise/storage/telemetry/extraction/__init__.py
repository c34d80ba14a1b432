"""Generates the SQL by which the engine extracts rows from OTLP as it is inserted."""
