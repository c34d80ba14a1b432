"""Users, API keys, passwords, tokens and the audit trail.

Every change is audited in the transaction that makes it.
"""
