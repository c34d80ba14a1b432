"""Services for traces, logs, signals, agents, sessions, prices, analytics, export and import.

Reads wait until acknowledged data is visible (see `model/freshness.py`).
"""
