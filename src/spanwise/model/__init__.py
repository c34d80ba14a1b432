"""Domain types: frozen API models, filters, time ranges, errors with codes.

Imports no other package of Spanwise, does no I/O and does not depend on HTTP or SQL.
"""
