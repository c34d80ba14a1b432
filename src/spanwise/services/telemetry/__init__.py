"""Services for traces, logs, signals, agents, sessions, prices, analytics, export and import.

Routes wait until the data is visible before they read (see `api/freshness.py`).
"""
