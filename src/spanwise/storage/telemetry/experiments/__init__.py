"""Experiment data: exposures, and sums of metrics per variant and day.

The engine aggregates; only sums leave it, never values of single units. Units that saw more than
one variant are excluded from every sum.
"""
