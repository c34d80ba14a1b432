"""Reading and recording traces, logs, signals, agents, prices; workspace export and import.

Reads wait until acknowledged data is visible (see `model/freshness.py`).
"""
