"""Reads traces: lists, neighbours, sessions, the values of filters, and words in a trace."""
