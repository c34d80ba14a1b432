"""Workspaces that people share: members, roles and invitations.

A workspace always has an owner whose account is active. Every change of members takes effect at
once in this process, and in other replicas when their cached accounts expire.
"""
