"""Spans, traces, signals, logs and metrics in ClickHouse: embedded by default, or a server.

Ingest writes through `write.writer.TelemetryWriter`; reads go through `engine.client_pool.Engine`.
Every query filters by workspace, except those of background jobs.
"""
