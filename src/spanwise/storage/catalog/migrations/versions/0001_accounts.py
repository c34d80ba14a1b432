"""Users, one-time tokens, API keys and the audit trail."""

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("email_verified", sa.Boolean, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.Column("token_version", sa.Integer, nullable=False),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.Column("last_login_at", UtcDateTime),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("workspace_id", name="uq_users_workspace_id"),
        sa.UniqueConstraint("email", name="uq_users_email"),
    )
    op.create_table(
        "one_time_tokens",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(40), nullable=False),
        sa.Column("purpose", sa.String(20), nullable=False),
        sa.Column("expires_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_one_time_tokens"),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name="fk_one_time_tokens_user_id_users",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_one_time_tokens_user_id_purpose", "one_time_tokens", ["user_id", "purpose"])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("user_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("prefix", sa.String(20), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("previous_hash", sa.String(64)),
        sa.Column("previous_valid_until", UtcDateTime),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.Column("expires_at", UtcDateTime),
        sa.Column("last_used_at", UtcDateTime),
        sa.Column("rotated_at", UtcDateTime),
        sa.Column("revoked_at", UtcDateTime),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_api_keys_user_id_users", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("secret_hash", name="uq_api_keys_secret_hash"),
        sa.UniqueConstraint("previous_hash", name="uq_api_keys_previous_hash"),
    )
    op.create_index("ix_api_keys_workspace_id_id", "api_keys", ["workspace_id", "id"])
    op.create_table(
        "audit",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("at", UtcDateTime, nullable=False),
        sa.Column("action", sa.String(60), nullable=False),
        sa.Column("actor", sa.String(40)),
        sa.Column("subject", sa.String(320)),
        sa.Column("address", sa.String(60)),
        sa.Column("data", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_at", "audit", ["at"])
