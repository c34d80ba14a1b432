"""Experiments."""

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "experiments",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("hypothesis", sa.Text),
        sa.Column("agent_id", sa.String(512)),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("variants", sa.JSON, nullable=False),
        sa.Column("metrics", sa.JSON, nullable=False),
        sa.Column("traffic_percent", sa.Float, nullable=False),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.Column("started_at", UtcDateTime),
        sa.Column("paused_at", UtcDateTime),
        sa.Column("stopped_at", UtcDateTime),
        sa.Column("winner", sa.String(64)),
        sa.PrimaryKeyConstraint("id", name="pk_experiments"),
    )
    op.create_index("ix_experiments_workspace_id_id", "experiments", ["workspace_id", "id"])
    op.create_index("ix_experiments_workspace_id_name", "experiments", ["workspace_id", "name"])
