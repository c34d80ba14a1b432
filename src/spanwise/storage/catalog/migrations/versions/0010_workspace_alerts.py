"""Alert rules of workspaces, silences, and what receivers of notifications answered."""

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("workspaces", sa.Column("alert_settings", sa.JSON))
    op.add_column("alerts", sa.Column("measure", sa.String(140)))
    op.add_column("alerts", sa.Column("failure_id", sa.String(40)))
    op.add_column("deliveries", sa.Column("response", sa.Text))
    op.create_table(
        "silences",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("agent_id", sa.String(40)),
        sa.Column("rule_id", sa.String(80)),
        sa.Column("reason", sa.Text),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.Column("starts_at", UtcDateTime, nullable=False),
        sa.Column("ends_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_silences"),
    )
    op.create_index("ix_silences_workspace_id_ends_at", "silences", ["workspace_id", "ends_at"])
