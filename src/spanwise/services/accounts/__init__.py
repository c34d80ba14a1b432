"""Users, API keys, passwords, tokens and the audit log.

Every change is audited in the transaction that makes it.
"""
