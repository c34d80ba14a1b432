"""Measures the windows of alert rules."""
