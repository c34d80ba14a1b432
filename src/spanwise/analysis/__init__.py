"""Pure computations: no database, no clock, no HTTP.

Alert rules, their baselines and backtests, experiment assignment and statistics, comparisons of two
groups, list prices of models.
"""
