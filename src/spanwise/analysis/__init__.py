"""Pure computations: no database, no clock, no HTTP.

Alert rules and their baselines, experiment assignment and statistics, list prices of models.
"""
