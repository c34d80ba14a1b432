"""Connections to ClickHouse, fair read slots, filters compiled to SQL, table sizes.

Caller values are always bound parameters; every query has a time and memory limit.
"""
