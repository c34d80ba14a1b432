"""What routes work with: the actions and stores that the composition root has put together."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from spanwise.actions.access import Access
from spanwise.actions.accounts import Accounts
from spanwise.actions.agents import Agents
from spanwise.actions.alert_watch import AlertWatch
from spanwise.actions.alerts import Alerts
from spanwise.actions.analytics import Analytics
from spanwise.actions.assignments import Assignments
from spanwise.actions.backtest import Backtests
from spanwise.actions.experiment_results import Results
from spanwise.actions.experiments import Experiments
from spanwise.actions.keys import Keys
from spanwise.actions.logs import Logs
from spanwise.actions.prices import Prices, RepricingProgress
from spanwise.actions.readiness import Readiness
from spanwise.actions.sessions import Sessions
from spanwise.actions.signals import Signals
from spanwise.actions.traces import Traces
from spanwise.actions.webhooks import Webhooks
from spanwise.ingest.intake import Intake
from spanwise.ingest.meter import IngestMeter
from spanwise.ingest.pipeline import Pipeline
from spanwise.ingest.receiver import Receiver
from spanwise.settings import Settings
from spanwise.storage.catalog import Catalog
from spanwise.storage.counters import Counters
from spanwise.storage.telemetry.engine import Engine
from spanwise.storage.telemetry.rollup import Rollup


@dataclass(frozen=True)
class Services:
    settings: Settings
    catalog: Catalog
    counters: Counters
    access: Access
    accounts: Accounts
    keys: Keys
    engine: Engine
    pipeline: Pipeline
    intake: Intake
    receiver: Receiver
    agents: Agents
    traces: Traces
    alerts: Alerts
    backtests: Backtests
    webhooks: Webhooks
    alert_watch: AlertWatch
    prices: Prices
    meter: IngestMeter
    repricing: RepricingProgress
    analytics: Analytics
    sessions: Sessions
    signals: Signals
    logs: Logs
    rollup: Rollup
    experiments: Experiments
    assignments: Assignments
    results: Results
    readiness: Readiness


def get_services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


# What routes depend on is async throughout: each plain function would be run in a thread.
async def _depend_on_services(request: Request) -> Services:
    return get_services(request)


Use = Annotated[Services, Depends(_depend_on_services)]
