"""Users, workspaces with their members and invitations, API keys, and the audit trail."""
