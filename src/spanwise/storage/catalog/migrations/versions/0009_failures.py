"""Failures that people marked as known or muted."""

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "failure_marks",
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("failure_id", sa.String(40), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("marked_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "failure_id", name="pk_failure_marks"),
    )
