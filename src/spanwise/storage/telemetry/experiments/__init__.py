"""Exposures, and the per-variant sums of experiment metrics."""
