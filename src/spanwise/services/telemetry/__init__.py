"""Traces, logs, signals, agents, sessions, prices, analytics; workspace export and import.

Reads wait until acknowledged data is visible (see `model/freshness.py`).
"""
