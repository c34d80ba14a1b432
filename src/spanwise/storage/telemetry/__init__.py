"""Spans, traces, signals, logs and metrics in ClickHouse: embedded by default, or a server.

`writer.TelemetryWriter` is the only way in; all reads go through `engine.client_pool.Engine`.
Every query filters by workspace, except those of the service itself.
"""
