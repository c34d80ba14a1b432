"""All tables. Until 0.1 is released they are those of the code; migrations follow from then on."""

from alembic import op

from spanwise.storage.catalog.tables import metadata

revision = "0001_baseline"
down_revision = None


def upgrade() -> None:
    metadata.create_all(op.get_bind(), checkfirst=False)
