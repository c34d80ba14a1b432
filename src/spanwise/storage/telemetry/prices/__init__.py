"""Model prices in the engine's dictionary, and the models that were seen.

A workspace's own price takes precedence over the list price; a cost that the span itself carries
takes precedence over both.
"""
