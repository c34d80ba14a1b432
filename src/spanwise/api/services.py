"""The services and stores that routes use, in groups; `wiring` builds them."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from spanwise.api.http.session_cookie import SessionCookie
from spanwise.ingest.body_memory import BodyMemory
from spanwise.ingest.commit.counters import IngestCounters
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.ingest.receiver import Receiver
from spanwise.model.dashboards.views import Dashboard, View
from spanwise.services.access import Access
from spanwise.services.accounts.accounts import Accounts
from spanwise.services.accounts.keys import Keys
from spanwise.services.agents import Agents
from spanwise.services.alerts.alert_rules import AlertRules
from spanwise.services.alerts.alerts import Alerts
from spanwise.services.alerts.backtest import Backtests
from spanwise.services.alerts.evaluation_health import AlertJobs
from spanwise.services.alerts.rule_windows import RuleWindows
from spanwise.services.alerts.silences import Silences
from spanwise.services.experiments.assignments import Assignments
from spanwise.services.experiments.experiments import Experiments
from spanwise.services.experiments.results import Results
from spanwise.services.notifications.webhooks import Webhooks
from spanwise.services.readiness import Readiness
from spanwise.services.single_sign_on.single_sign_on import SingleSignOn
from spanwise.services.telemetry.analytics import Analytics
from spanwise.services.telemetry.changes import ChangeFinder
from spanwise.services.telemetry.coding_agents import CodingAgents
from spanwise.services.telemetry.failures import Failures
from spanwise.services.telemetry.logs import Logs
from spanwise.services.telemetry.metrics import Metrics
from spanwise.services.telemetry.prices import Prices, RepricingProgress
from spanwise.services.telemetry.sessions import Sessions
from spanwise.services.telemetry.signals import Signals
from spanwise.services.telemetry.traces import Traces
from spanwise.services.workspaces.invitations import Invitations
from spanwise.services.workspaces.masking import Masking
from spanwise.services.workspaces.members import Members
from spanwise.services.workspaces.retention import RetentionPreviews
from spanwise.services.workspaces.shared_records import SharedRecords
from spanwise.services.workspaces.workspaces import Workspaces
from spanwise.settings import Settings
from spanwise.storage.catalog import Catalog
from spanwise.storage.counters import Counters
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.rollup import Rollup


@dataclass(frozen=True)
class Identity:
    """People, keys and workspaces: who may do what, and where."""

    access: Access
    session_cookie: SessionCookie
    accounts: Accounts
    single_sign_on: SingleSignOn | None
    keys: Keys
    workspaces: Workspaces
    members: Members
    invitations: Invitations


@dataclass(frozen=True)
class Ingest:
    pipeline: Pipeline
    body_memory: BodyMemory
    receiver: Receiver
    masking: Masking
    counters: IngestCounters


@dataclass(frozen=True)
class Telemetry:
    """What was recorded, what is computed from it, and how people look at it."""

    agents: Agents
    traces: Traces
    sessions: Sessions
    signals: Signals
    logs: Logs
    metrics: Metrics
    coding_agents: CodingAgents
    analytics: Analytics
    changes: ChangeFinder
    failures: Failures
    rollup: Rollup
    prices: Prices
    repricing: RepricingProgress
    retention_previews: RetentionPreviews
    views: SharedRecords[View]
    dashboards: SharedRecords[Dashboard]


@dataclass(frozen=True)
class Alerting:
    alerts: Alerts
    alert_rules: AlertRules
    rule_windows: RuleWindows
    silences: Silences
    backtests: Backtests
    webhooks: Webhooks
    alert_jobs: AlertJobs


@dataclass(frozen=True)
class Experimentation:
    experiments: Experiments
    assignments: Assignments
    results: Results


@dataclass(frozen=True)
class Services:
    settings: Settings
    catalog: Catalog
    counters: Counters
    engine: Engine
    identity: Identity
    ingest: Ingest
    telemetry: Telemetry
    alerting: Alerting
    experimentation: Experimentation
    readiness: Readiness


def get_services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


# Async, because FastAPI runs plain functions in a thread.
async def _use_services(request: Request) -> Services:
    return get_services(request)


async def _use_identity(request: Request) -> Identity:
    return get_services(request).identity


async def _use_ingest(request: Request) -> Ingest:
    return get_services(request).ingest


async def _use_telemetry(request: Request) -> Telemetry:
    return get_services(request).telemetry


async def _use_alerting(request: Request) -> Alerting:
    return get_services(request).alerting


async def _use_experimentation(request: Request) -> Experimentation:
    return get_services(request).experimentation


# A route names in its signature what it uses.
Use = Annotated[Services, Depends(_use_services)]
UseIdentity = Annotated[Identity, Depends(_use_identity)]
UseIngest = Annotated[Ingest, Depends(_use_ingest)]
UseTelemetry = Annotated[Telemetry, Depends(_use_telemetry)]
UseAlerting = Annotated[Alerting, Depends(_use_alerting)]
UseExperimentation = Annotated[Experimentation, Depends(_use_experimentation)]
