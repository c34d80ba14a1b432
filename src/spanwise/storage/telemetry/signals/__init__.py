"""Signals: lists, and summaries per name."""
