"""Alembic environment: runs migrations on the connection that `migrate` opened and locked."""

from alembic import context

config = context.config
context.configure(
    connection=config.attributes["connection"],
    target_metadata=config.attributes["metadata"],
    render_as_batch=True,
    # SQLite supports it too, though Alembic assumes otherwise.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
