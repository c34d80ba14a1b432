"""Retention: removes expired rows, or only the contents of old ones."""
