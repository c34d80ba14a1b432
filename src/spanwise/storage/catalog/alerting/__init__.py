"""Alerts, alert rules and silences."""
