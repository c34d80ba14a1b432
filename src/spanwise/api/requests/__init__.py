"""Request parameters, fields and bodies, shared by routes.

They are validated into frozen values; an invalid one is 400 and names the field. No text may
contain a NUL, because PostgreSQL cannot store it.
"""
