"""Connections to ClickHouse: the client pool, fair read slots, filters compiled to SQL.

`client_pool.Engine` is the face: one process opens one. Values from callers are always bound
parameters, every query has time and memory limits, and no workspace can occupy all readers.
"""
