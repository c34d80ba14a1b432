"""The catalog's tables, as the migrations leave them."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A time that is UTC on both engines; SQLite itself keeps no zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ANN401
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

users = Table(
    "users",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False, unique=True),
    Column("email", String(320), nullable=False, unique=True),
    Column("name", String(200), nullable=False),
    Column("role", String(20), nullable=False),
    Column("password_hash", Text, nullable=False),
    Column("email_verified", Boolean, nullable=False),
    Column("disabled", Boolean, nullable=False),
    Column("token_version", Integer, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("last_login_at", UtcDateTime),
)

one_time_tokens = Table(
    "one_time_tokens",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    Column("user_id", String(40), ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("purpose", String(20), nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Index(None, "user_id", "purpose"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("user_id", String(40), ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("prefix", String(20), nullable=False),
    Column("secret_hash", String(64), nullable=False, unique=True),
    Column("previous_hash", String(64), unique=True),
    Column("previous_valid_until", UtcDateTime),
    Column("scopes", JSON, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime),
    Column("last_used_at", UtcDateTime),
    Column("rotated_at", UtcDateTime),
    Column("revoked_at", UtcDateTime),
    Index(None, "workspace_id", "id"),
)

agents = Table(
    "agents",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("name", String(512), nullable=False),
    Column("description", Text),
    Column("tags", JSON, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("alert_settings", JSON),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    UniqueConstraint("workspace_id", "name"),
)

model_prices = Table(
    "model_prices",
    metadata,
    Column("workspace_id", String(40), primary_key=True),
    Column("model", String(512), primary_key=True),
    Column("input_per_million", Float, nullable=False),
    Column("output_per_million", Float, nullable=False),
    Column("cached_input_per_million", Float),
    Column("cache_write_per_million", Float),
    Column("reasoning_per_million", Float),
    Column("updated_at", UtcDateTime, nullable=False),
)

experiments = Table(
    "experiments",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("name", String(200), nullable=False),
    Column("description", Text),
    Column("hypothesis", Text),
    Column("agent_id", String(512)),
    Column("status", String(20), nullable=False),
    Column("variants", JSON, nullable=False),
    Column("metrics", JSON, nullable=False),
    Column("traffic_percent", Float, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("started_at", UtcDateTime),
    Column("paused_at", UtcDateTime),
    Column("stopped_at", UtcDateTime),
    Column("winner", String(64)),
    Index(None, "workspace_id", "id"),
    Index(None, "workspace_id", "name"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("at", UtcDateTime, nullable=False, index=True),
    Column("action", String(60), nullable=False),
    Column("actor", String(40)),
    Column("subject", String(320)),
    Column("address", String(60)),
    Column("data", JSON, nullable=False),
)

# Which earlier spans still wait for a price that appeared or changed. An empty workspace stands for
# everyone's list price. `generation` counts the changes: so a worker notices one under its feet.
repricing = Table(
    "repricing",
    metadata,
    Column("workspace_id", String(40), primary_key=True),
    Column("provider", String(200), primary_key=True),
    Column("model", String(512), primary_key=True),
    Column("generation", Integer, nullable=False),
    Column("state", String(20), nullable=False),
    Column("months_left", JSON),
    Column("months_total", Integer, nullable=False),
    Column("claimed_by", String(40)),
    Column("claimed_until", UtcDateTime),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index(None, "state"),
)
