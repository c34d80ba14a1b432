"""Prices with a date, of tools too, and with rates per call, per image and for audio."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0007"
down_revision = "0006"

_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)


def upgrade() -> None:
    # SQLite cannot change a primary key.
    old = sa.table(
        "model_prices",
        sa.column("workspace_id"),
        sa.column("model"),
        sa.column("input_per_million"),
        sa.column("output_per_million"),
        sa.column("cached_input_per_million"),
        sa.column("cache_write_per_million"),
        sa.column("reasoning_per_million"),
        sa.column("updated_at", UtcDateTime),
    )
    rows = [dict(row._mapping) for row in op.get_bind().execute(sa.select(old))]
    op.drop_table("model_prices")
    new = op.create_table(
        "model_prices",
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("model", sa.String(512), nullable=False),
        sa.Column("effective_from", UtcDateTime, nullable=False),
        sa.Column("input_per_million", sa.Float, nullable=False),
        sa.Column("output_per_million", sa.Float, nullable=False),
        sa.Column("cached_input_per_million", sa.Float),
        sa.Column("cache_write_per_million", sa.Float),
        sa.Column("reasoning_per_million", sa.Float),
        sa.Column("audio_input_per_million", sa.Float),
        sa.Column("audio_output_per_million", sa.Float),
        sa.Column("per_call", sa.Float),
        sa.Column("per_image", sa.Float),
        sa.Column("updated_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint(
            "workspace_id", "kind", "model", "effective_from", name="pk_model_prices"
        ),
    )
    if rows:
        values = [{**row, "kind": "model", "effective_from": _ALWAYS} for row in rows]
        op.bulk_insert(new, values)
