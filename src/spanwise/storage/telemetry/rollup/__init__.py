"""Analytics over any time range, answered from precomputed aggregates where they are valid."""
