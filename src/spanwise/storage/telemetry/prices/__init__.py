"""Model prices in the engine's dictionary, and repricing of stored spans.

A workspace's own price takes precedence over the list price; a cost that the span itself carries
takes precedence over both. Repricing corrects spans by writing a newer version, never in place.
"""
