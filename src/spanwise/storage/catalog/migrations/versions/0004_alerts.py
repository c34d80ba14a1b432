"""Seen times of agents, alerts, rule states, events, webhooks, deliveries and leases."""

import sqlalchemy as sa
from alembic import op

from spanwise.storage.catalog.tables import UtcDateTime

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("agents", sa.Column("first_seen_at", UtcDateTime))
    op.add_column("agents", sa.Column("last_seen_at", UtcDateTime))
    _create_alerts()
    _create_events()
    op.create_table(
        "leases",
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("holder", sa.String(80), nullable=False),
        sa.Column("expires_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )


def _create_alerts() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("agent_id", sa.String(40), nullable=False),
        sa.Column("agent_name", sa.String(512), nullable=False),
        sa.Column("rule_id", sa.String(80), nullable=False),
        sa.Column("open_rule", sa.String(128)),
        sa.Column("metric", sa.String(20), nullable=False),
        sa.Column("condition", sa.String(20), nullable=False),
        sa.Column("severity", sa.String(20), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("value", sa.Float, nullable=False),
        sa.Column("threshold", sa.Float),
        sa.Column("baseline", sa.Float),
        sa.Column("window_start", UtcDateTime, nullable=False),
        sa.Column("window_end", UtcDateTime, nullable=False),
        sa.Column("triggered_at", UtcDateTime, nullable=False),
        sa.Column("acknowledged_at", UtcDateTime),
        sa.Column("acknowledged_by", sa.String(40)),
        sa.Column("reopened_at", UtcDateTime),
        sa.Column("resolved_at", UtcDateTime),
        sa.Column("notified_at", UtcDateTime, nullable=False),
        sa.Column("occurrences", sa.Integer, nullable=False),
        sa.Column("example_trace_ids", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alerts"),
        sa.UniqueConstraint("open_rule", name="uq_alerts_open_rule"),
    )
    for columns in (["workspace_id", "triggered_at"], ["workspace_id", "status"], ["resolved_at"]):
        op.create_index(f"ix_alerts_{'_'.join(columns)}", "alerts", columns)
    op.create_table(
        "alert_moves",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("alert_id", sa.String(40), nullable=False),
        sa.Column("at", UtcDateTime, nullable=False),
        sa.Column("from_status", sa.String(20)),
        sa.Column("to_status", sa.String(20), nullable=False),
        sa.Column("by", sa.String(40), nullable=False),
        sa.Column("note", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_alert_moves"),
        sa.ForeignKeyConstraint(
            ["alert_id"], ["alerts.id"], name="fk_alert_moves_alert_id_alerts", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_alert_moves_alert_id", "alert_moves", ["alert_id"])
    op.create_table(
        "rule_states",
        sa.Column("agent_id", sa.String(40), nullable=False),
        sa.Column("rule_id", sa.String(80), nullable=False),
        sa.Column("breaching_since", UtcDateTime),
        sa.Column("clear_since", UtcDateTime),
        sa.Column("scored_at", UtcDateTime),
        sa.Column("scores", sa.JSON, nullable=False),
        sa.Column("learns_since", UtcDateTime),
        sa.PrimaryKeyConstraint("agent_id", "rule_id", name="pk_rule_states"),
    )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("type", sa.String(60), nullable=False),
        sa.Column("at", UtcDateTime, nullable=False),
        sa.Column("actor", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(320), nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
    )
    op.create_index("ix_events_workspace_id_at", "events", ["workspace_id", "at"])
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("types", sa.JSON, nullable=False),
        sa.Column("secret", sa.String(80), nullable=False),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_index("ix_webhooks_workspace_id", "webhooks", ["workspace_id"])
    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("once_key", sa.String(64), nullable=False),
        sa.Column("channel", sa.String(20), nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("webhook_id", sa.String(40)),
        sa.Column("secret", sa.String(80)),
        sa.Column("type", sa.String(60), nullable=False),
        sa.Column("subject", sa.String(320), nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_attempt_at", UtcDateTime),
        sa.Column("response_status", sa.Integer),
        sa.Column("error", sa.Text),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.Column("finished_at", UtcDateTime),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.UniqueConstraint("once_key", name="uq_deliveries_once_key"),
    )
    op.create_index("ix_deliveries_next_attempt_at", "deliveries", ["next_attempt_at"])
    op.create_index("ix_deliveries_workspace_id_id", "deliveries", ["workspace_id", "id"])
