"""Experiments: definition, results, and the sums that statistics are computed from."""
