"""How Alembic runs here: always on the connection that `migrate` holds its lock with."""

from alembic import context

config = context.config
context.configure(
    connection=config.attributes["connection"],
    target_metadata=config.attributes["metadata"],
    render_as_batch=True,
    # SQLite can do it too, though Alembic assumes that it cannot.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
