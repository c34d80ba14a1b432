"""The rule that raised an alert, as it was then."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("alerts", sa.Column("rule", sa.JSON))
