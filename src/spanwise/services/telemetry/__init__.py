"""Services for traces, sessions, logs, signals, metrics, agents, coding agents, failures, changes,
prices, analytics, export and import.

Routes wait until the data is visible before they read (see `api/freshness.py`).
"""
