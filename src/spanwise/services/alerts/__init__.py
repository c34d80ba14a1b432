"""Alerts, alert rules and backtests of rules."""
