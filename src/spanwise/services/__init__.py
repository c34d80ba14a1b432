"""Use cases: the rules and transactions behind the API, across the stores.

Routes, jobs and commands call them; they know nothing of HTTP.
"""
