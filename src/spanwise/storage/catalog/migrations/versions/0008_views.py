"""Saved views and dashboards."""

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    own = {
        "views": (
            sa.Column("page", sa.String(100), nullable=False),
            sa.Column("query", sa.JSON, nullable=False),
        ),
        "dashboards": (sa.Column("panels", sa.JSON, nullable=False),),
    }
    for table, columns in own.items():
        op.create_table(
            table,
            sa.Column("id", sa.String(40), nullable=False),
            sa.Column("workspace_id", sa.String(40), nullable=False),
            sa.Column("owner_id", sa.String(40), nullable=False),
            sa.Column("name", sa.String(200), nullable=False),
            sa.Column("is_shared", sa.Boolean, nullable=False),
            sa.Column("created_at", UtcDateTime, nullable=False),
            sa.Column("updated_at", UtcDateTime, nullable=False),
            *columns,
            sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        )
        op.create_index(f"ix_{table}_workspace_id_id", table, ["workspace_id", "id"])
