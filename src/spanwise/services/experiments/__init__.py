"""Experiments: lifecycle, variant assignment and results.

An assignment is a pure function of experiment, unit and settings; exposures are journalled before
the response is sent.
"""
