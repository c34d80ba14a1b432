"""Agents, and model prices set by workspaces."""

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "agents",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(512), nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("tags", sa.JSON, nullable=False),
        sa.Column("metadata", sa.JSON, nullable=False),
        sa.Column("alert_settings", sa.JSON),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.Column("updated_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_agents"),
        sa.UniqueConstraint("workspace_id", "name", name="uq_agents_workspace_id_name"),
    )
    op.create_table(
        "model_prices",
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("model", sa.String(512), nullable=False),
        sa.Column("input_per_million", sa.Float, nullable=False),
        sa.Column("output_per_million", sa.Float, nullable=False),
        sa.Column("cached_input_per_million", sa.Float),
        sa.Column("cache_write_per_million", sa.Float),
        sa.Column("reasoning_per_million", sa.Float),
        sa.Column("updated_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "model", name="pk_model_prices"),
    )
