"""Alerts, alert rules, their backtests, and silences."""
