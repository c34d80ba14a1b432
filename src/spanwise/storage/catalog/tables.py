"""Table definitions of the catalog, identical to what the migrations create."""

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
    """A UTC time on both databases; SQLite itself stores no time zone."""

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
    Column("default_workspace_id", String(40)),
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

workspaces = Table(
    "workspaces",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("require_key_expiry", Boolean, nullable=False),
    Column("retention_days", Integer),
    Column("content_retention_days", Integer),
    Column("masking", JSON),
    Column("alert_settings", JSON),
)

memberships = Table(
    "memberships",
    metadata,
    Column(
        "workspace_id",
        String(40),
        ForeignKey("workspaces.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("user_id", String(40), ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("role", String(20), nullable=False),
    Column("joined_at", UtcDateTime, nullable=False),
    Index(None, "user_id"),
)

invitations = Table(
    "invitations",
    metadata,
    Column("id", String(40), primary_key=True),
    Column(
        "workspace_id",
        String(40),
        ForeignKey("workspaces.id", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("email", String(320), nullable=False),
    Column("role", String(20), nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("invited_by", String(40), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    UniqueConstraint("workspace_id", "email"),
)

# Deleted workspaces whose telemetry is still to be removed.
workspace_removals = Table(
    "workspace_removals",
    metadata,
    Column("workspace_id", String(40), primary_key=True),
    Column("deleted_at", UtcDateTime, nullable=False),
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

# Addresses from which a key was used, so that the first use from a new one is audited.
key_addresses = Table(
    "key_addresses",
    metadata,
    Column("key_id", String(40), ForeignKey("api_keys.id", ondelete="CASCADE"), primary_key=True),
    Column("address", String(60), primary_key=True),
    Column("first_used_at", UtcDateTime, nullable=False),
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
    Column("first_seen_at", UtcDateTime),
    Column("last_seen_at", UtcDateTime),
    UniqueConstraint("workspace_id", "name"),
)

alerts = Table(
    "alerts",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    # The workspace, for an alert of one of its own rules.
    Column("agent_id", String(40), nullable=False),
    Column("agent_name", String(512), nullable=False),
    Column("rule_id", String(80), nullable=False),
    # Agent and rule while the alert is open; unique, so a rule has one open alert at most.
    Column("open_rule", String(128), unique=True),
    Column("metric", String(20), nullable=False),
    Column("condition", String(20), nullable=False),
    Column("severity", String(20), nullable=False),
    Column("status", String(20), nullable=False),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("value", Float, nullable=False),
    Column("threshold", Float),
    Column("baseline", Float),
    Column("window_start", UtcDateTime, nullable=False),
    Column("window_end", UtcDateTime, nullable=False),
    Column("triggered_at", UtcDateTime, nullable=False),
    Column("acknowledged_at", UtcDateTime),
    Column("acknowledged_by", String(40)),
    Column("reopened_at", UtcDateTime),
    Column("resolved_at", UtcDateTime, index=True),
    Column("notified_at", UtcDateTime, nullable=False),
    Column("occurrences", Integer, nullable=False),
    Column("example_trace_ids", JSON, nullable=False),
    Column("measure", String(140)),
    Column("failure_id", String(40)),
    # As it was when it raised the alert.
    Column("rule", JSON, nullable=False),
    Index(None, "workspace_id", "triggered_at"),
    Index(None, "workspace_id", "status"),
)

alert_moves = Table(
    "alert_moves",
    metadata,
    Column("id", String(40), primary_key=True),
    Column(
        "alert_id",
        String(40),
        ForeignKey("alerts.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("at", UtcDateTime, nullable=False),
    Column("from_status", String(20)),
    Column("to_status", String(20), nullable=False),
    Column("by", String(40), nullable=False),
    Column("note", Text),
)

rule_states = Table(
    "rule_states",
    metadata,
    Column("agent_id", String(40), primary_key=True),
    Column("rule_id", String(80), primary_key=True),
    Column("breaching_since", UtcDateTime),
    Column("clear_since", UtcDateTime),
    Column("scored_at", UtcDateTime),
    Column("scores", JSON, nullable=False),
    Column("learns_since", UtcDateTime),
)

# An empty agent or rule stands for all of them.
silences = Table(
    "silences",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("agent_id", String(40)),
    Column("rule_id", String(80)),
    Column("reason", Text),
    Column("created_by", String(40), nullable=False),
    Column("starts_at", UtcDateTime, nullable=False),
    Column("ends_at", UtcDateTime, nullable=False),
    Index(None, "workspace_id", "ends_at"),
)

leases = Table(
    "leases",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("holder", String(80), nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("type", String(60), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("actor", String(40), nullable=False),
    Column("subject", String(320), nullable=False),
    Column("data", JSON, nullable=False),
    Index(None, "workspace_id", "at"),
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False, index=True),
    Column("url", Text, nullable=False),
    Column("types", JSON, nullable=False),
    Column("secret", String(80), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    # Hash of content and target: the same message is never added twice.
    Column("once_key", String(64), nullable=False, unique=True),
    Column("channel", String(20), nullable=False),
    Column("target", Text, nullable=False),
    Column("webhook_id", String(40)),
    Column("secret", String(80)),
    Column("type", String(60), nullable=False),
    Column("subject", String(320), nullable=False),
    Column("content", JSON, nullable=False),
    Column("status", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", UtcDateTime, index=True),
    Column("response_status", Integer),
    Column("error", Text),
    Column("created_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
    Column("response", Text),
    Index(None, "workspace_id", "id"),
)

model_prices = Table(
    "model_prices",
    metadata,
    Column("workspace_id", String(40), primary_key=True),
    Column("kind", String(20), primary_key=True),
    Column("model", String(512), primary_key=True),
    Column("effective_from", UtcDateTime, primary_key=True),
    Column("input_per_million", Float, nullable=False),
    Column("output_per_million", Float, nullable=False),
    Column("cached_input_per_million", Float),
    Column("cache_write_per_million", Float),
    Column("reasoning_per_million", Float),
    Column("audio_input_per_million", Float),
    Column("audio_output_per_million", Float),
    Column("per_call", Float),
    Column("per_image", Float),
    Column("updated_at", UtcDateTime, nullable=False),
)

failure_marks = Table(
    "failure_marks",
    metadata,
    Column("workspace_id", String(40), primary_key=True),
    Column("failure_id", String(40), primary_key=True),
    Column("status", String(20), nullable=False),
    Column("marked_at", UtcDateTime, nullable=False),
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

views = Table(
    "views",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("owner_id", String(40), nullable=False),
    Column("name", String(200), nullable=False),
    Column("is_shared", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Column("page", String(100), nullable=False),
    Column("query", JSON, nullable=False),
    Index(None, "workspace_id", "id"),
)

dashboards = Table(
    "dashboards",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(40), nullable=False),
    Column("owner_id", String(40), nullable=False),
    Column("name", String(200), nullable=False),
    Column("is_shared", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Column("panels", JSON, nullable=False),
    Index(None, "workspace_id", "id"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", String(40), primary_key=True),
    # Empty for actions of the whole installation.
    Column("workspace_id", String(40)),
    Column("at", UtcDateTime, nullable=False, index=True),
    Column("action", String(60), nullable=False),
    Column("actor", String(40)),
    Column("subject", String(320)),
    Column("address", String(60)),
    Column("data", JSON, nullable=False),
    Index(None, "workspace_id", "at"),
)

# Repricing tasks per price. An empty workspace stands for the list price. `generation` counts price
# changes, so that a worker notices a change during its task.
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
