"""Connections to ClickHouse: client pool, fair read slots, bound conditions.

The entry point is `client_pool.Engine`, one per process. Values from callers are always bound
parameters, every query has time and memory limits, and no workspace can occupy all readers.
"""
