"""All SQL and all access to databases: the catalog, telemetry, and rate-limit counters.

Every function that reads or writes a tenant's data takes the workspace first.
"""
