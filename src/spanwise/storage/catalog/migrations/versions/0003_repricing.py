"""Repricing tasks."""

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "repricing",
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("provider", sa.String(200), nullable=False),
        sa.Column("model", sa.String(512), nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("months_left", sa.JSON),
        sa.Column("months_total", sa.Integer, nullable=False),
        sa.Column("claimed_by", sa.String(40)),
        sa.Column("claimed_until", UtcDateTime),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.Column("updated_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "provider", "model", name="pk_repricing"),
    )
    op.create_index("ix_repricing_state", "repricing", ["state"])
