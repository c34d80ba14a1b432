"""Routes for workspaces, their members and invitations.

The workspace is the one in the path; the caller's role in it decides. Only people may call them.
"""
