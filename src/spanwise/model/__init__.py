"""Domain types: frozen API models, filters, time ranges, errors with codes.

Imports no other package of Spanwise, does no I/O and knows nothing of HTTP or SQL.
"""
