"""Workspaces with members, roles and invitations; every account owns the one that it had."""

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "workspaces",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.Column("require_key_expiry", sa.Boolean, nullable=False),
        sa.Column("retention_days", sa.Integer),
        sa.Column("content_retention_days", sa.Integer),
        sa.Column("masking", sa.JSON),
        sa.PrimaryKeyConstraint("id", name="pk_workspaces"),
    )
    op.create_table(
        "memberships",
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("user_id", sa.String(40), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("joined_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "user_id", name="pk_memberships"),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name="fk_memberships_workspace_id_workspaces",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_memberships_user_id_users", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_memberships_user_id", "memberships", ["user_id"])
    op.create_table(
        "invitations",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("invited_by", sa.String(40), nullable=False),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.Column("expires_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name="fk_invitations_workspace_id_workspaces",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("token_hash", name="uq_invitations_token_hash"),
        sa.UniqueConstraint("workspace_id", "email", name="uq_invitations_workspace_id_email"),
    )
    op.create_table(
        "workspace_removals",
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("deleted_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", name="pk_workspace_removals"),
    )
    op.create_table(
        "key_addresses",
        sa.Column("key_id", sa.String(40), nullable=False),
        sa.Column("address", sa.String(60), nullable=False),
        sa.Column("first_used_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("key_id", "address", name="pk_key_addresses"),
        sa.ForeignKeyConstraint(
            ["key_id"], ["api_keys.id"], name="fk_key_addresses_key_id_api_keys", ondelete="CASCADE"
        ),
    )
    op.add_column("audit", sa.Column("workspace_id", sa.String(40)))
    op.create_index("ix_audit_workspace_id_at", "audit", ["workspace_id", "at"])
    op.execute(
        """INSERT INTO workspaces (id, name, created_at, require_key_expiry)
        SELECT workspace_id, substr(name, 1, 100) || '''s workspace', created_at, FALSE
        FROM users"""
    )
    op.execute(
        """INSERT INTO memberships (workspace_id, user_id, role, joined_at)
        SELECT workspace_id, id, 'owner', created_at FROM users"""
    )
    op.execute(
        """UPDATE audit SET workspace_id =
            (SELECT users.workspace_id FROM users WHERE users.id = audit.actor)"""
    )
    with op.batch_alter_table("users") as users:
        users.drop_constraint("uq_users_workspace_id", type_="unique")
        users.alter_column(
            "workspace_id",
            new_column_name="default_workspace_id",
            existing_type=sa.String(40),
            existing_nullable=False,
            nullable=True,
        )
