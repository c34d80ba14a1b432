"""Use cases: the rules and transactions behind the API, across the stores.

Routes, jobs and commands call them; they do not depend on HTTP.
"""
