"""Opens stores, builds services and starts background jobs; closes all in reverse order."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from datetime import timedelta
from functools import partial

from spanwise.api.http.session_cookie import SessionCookie
from spanwise.api.services import (
    Alerting,
    Experimentation,
    Identity,
    Ingest,
    Services,
    Telemetry,
)
from spanwise.ingest.body_memory import BodyMemory
from spanwise.ingest.commit.counters import IngestCounters
from spanwise.ingest.counts import Limits
from spanwise.ingest.receiver import Receiver
from spanwise.jobs.alert_evaluation import AlertEvaluator
from spanwise.jobs.notifications import NotificationSender
from spanwise.jobs.repricing import Repricer
from spanwise.jobs.retention import Retention
from spanwise.model.api_model import Clock, new_id, utc_now
from spanwise.model.dashboards.views import Dashboard, View
from spanwise.services.access import Access
from spanwise.services.accounts.accounts import Accounts
from spanwise.services.accounts.bootstrap import bootstrap
from spanwise.services.accounts.keys import Keys
from spanwise.services.agents import Agents
from spanwise.services.alerts.alert_rules import AlertRules
from spanwise.services.alerts.alerts import Alerts
from spanwise.services.alerts.backtest import Backtests
from spanwise.services.alerts.rule_windows import RuleWindows
from spanwise.services.alerts.silences import Silences
from spanwise.services.experiments.assignments import Assignments, ExperimentCache
from spanwise.services.experiments.experiments import Experiments
from spanwise.services.experiments.results import Results
from spanwise.services.notifications.mail import Mailer
from spanwise.services.notifications.webhook_guard import WebhookGuard
from spanwise.services.notifications.webhooks import Webhooks
from spanwise.services.readiness import Readiness, check_catalog
from spanwise.services.single_sign_on.single_sign_on import SingleSignOn
from spanwise.services.telemetry.analytics import Analytics
from spanwise.services.telemetry.changes import ChangeFinder
from spanwise.services.telemetry.coding_agents import CodingAgents
from spanwise.services.telemetry.failures import Failures
from spanwise.services.telemetry.logs import Logs
from spanwise.services.telemetry.metrics import Metrics
from spanwise.services.telemetry.price_list import PriceList
from spanwise.services.telemetry.prices import Prices, PriceSync
from spanwise.services.telemetry.sessions import Sessions
from spanwise.services.telemetry.signals import Signals
from spanwise.services.telemetry.traces import Traces
from spanwise.services.tokens import TokenSigner
from spanwise.services.workspaces.invitations import Invitations
from spanwise.services.workspaces.masking import Masking
from spanwise.services.workspaces.members import Members
from spanwise.services.workspaces.retention import RetentionPreviews
from spanwise.services.workspaces.shared_records import SharedRecords
from spanwise.services.workspaces.workspaces import Workspaces
from spanwise.settings import Settings, load_secret_key
from spanwise.storage.catalog import Catalog
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.wiring.ingest import open_agents, open_pipeline
from spanwise.wiring.jobs import (
    start_agent_activity,
    start_alerting,
    start_failures,
    start_job,
    start_key_uses,
    start_masking_refresh,
    start_reaggregation,
    start_rollup,
    start_text_index,
)
from spanwise.wiring.stores import (
    open_catalog,
    open_counters,
    open_journal,
    open_writer,
    telemetry_address,
)


def _open_single_sign_on(
    stack: AsyncExitStack,
    settings: Settings,
    catalog: Catalog,
    signer: TokenSigner,
    access: Access,
    mailer: Mailer,
) -> SingleSignOn | None:
    if not settings.has_single_sign_on:
        return None
    single_sign_on = SingleSignOn(settings, catalog, signer, access, mailer)
    stack.push_async_callback(single_sign_on.close)
    return single_sign_on


@asynccontextmanager
async def open_services(settings: Settings, clock: Clock = utc_now) -> AsyncIterator[Services]:
    """Open the stores, build the services and start the jobs; close all in reverse order.

    `clock` returns the time at which alerts are evaluated; tests replace it.
    """
    async with AsyncExitStack() as stack:
        # First, because a process that cannot lock the journal must not change anything.
        journal = stack.enter_context(closing(open_journal(settings)))
        signer = TokenSigner(load_secret_key(settings), timedelta(hours=settings.jwt_hours))
        catalog = await open_catalog(settings)
        stack.push_async_callback(catalog.close)
        await bootstrap(settings, catalog)
        redis_url = settings.redis_url.get_secret_value() if settings.redis_url else None
        counters = await open_counters(redis_url)
        stack.push_async_callback(counters.close)
        mailer = Mailer.from_settings(settings)
        stack.push_async_callback(mailer.drain)
        access = Access(catalog, signer)
        start_key_uses(stack, access)
        agents = open_agents(stack, catalog)
        engine = Engine.open(telemetry_address(settings), settings.memory_limit_mb)
        stack.callback(engine.close)
        price_list = PriceList(settings.price_list_path)
        writer = open_writer(engine, catalog, price_list)
        stack.callback(writer.close)
        ingest_counters = IngestCounters()
        pipeline = open_pipeline(settings, journal, writer, agents, ingest_counters)
        start_agent_activity(stack, agents)
        await pipeline.start()
        stack.push_async_callback(pipeline.stop)
        start_reaggregation(stack, writer)
        price_sync = PriceSync(catalog, writer)
        is_only_process = engine.address.folder is not None
        repricer = Repricer(
            catalog, writer, price_sync, price_list, is_only_process=is_only_process
        )
        start_job(stack, repricer)
        masking = Masking(catalog)
        # Before anything is received.
        await masking.refresh()
        if not is_only_process:
            start_masking_refresh(stack, masking)
        receiver = Receiver(pipeline, ingest_counters, masking.find_masker, limits_of(settings))
        stack.callback(receiver.close)
        rollup = Rollup(engine, visible_until=writer.visible_until, changes=writer.changes)
        retention = Retention(engine, writer, rollup, catalog, settings.retention_days)
        start_job(stack, retention)
        start_rollup(stack, rollup)
        start_text_index(stack, engine, writer)
        failure_updates = start_failures(stack, engine, writer)
        experiment_cache = ExperimentCache(catalog)
        agent_records = Agents(catalog, engine, rollup, pipeline, agents)
        guard = WebhookGuard(allow_private=settings.allow_private_webhooks)
        sender = NotificationSender(catalog, mailer, guard, settings.public_address, clock)
        rule_windows = RuleWindows(engine, catalog, agents, failure_updates)
        evaluator = AlertEvaluator(
            catalog,
            rule_windows,
            pipeline,
            settings.alert_interval_seconds,
            holder="embedded" if is_only_process else new_id("rep"),
            clock=clock,
        )
        alert_jobs = await start_alerting(stack, evaluator, sender, is_only_process=is_only_process)
        yield Services(
            settings=settings,
            catalog=catalog,
            counters=counters,
            engine=engine,
            identity=Identity(
                access=access,
                session_cookie=SessionCookie(
                    load_secret_key(settings), is_secure=settings.has_https
                ),
                accounts=Accounts(settings, catalog, counters, mailer, signer, access),
                single_sign_on=_open_single_sign_on(
                    stack, settings, catalog, signer, access, mailer
                ),
                keys=Keys(catalog, access),
                workspaces=Workspaces(catalog, access, settings.retention_days, retention.wake),
                members=Members(catalog, access),
                invitations=Invitations(catalog, access, mailer, settings.public_address),
            ),
            ingest=Ingest(
                pipeline=pipeline,
                body_memory=BodyMemory(min(settings.memory_limit_mb * 2**20 // 8, 256 * 2**20)),
                receiver=receiver,
                masking=masking,
                counters=ingest_counters,
            ),
            telemetry=Telemetry(
                agents=agent_records,
                traces=Traces(engine, pipeline, agents, rollup),
                sessions=Sessions(engine, agents),
                signals=Signals(engine, receiver, agents),
                logs=Logs(engine, receiver, agents),
                metrics=Metrics(engine),
                coding_agents=CodingAgents(engine),
                analytics=Analytics(engine, rollup, agents, catalog),
                changes=ChangeFinder(engine, rollup, agents),
                failures=Failures(engine, catalog, agents, failure_updates, clock),
                rollup=rollup,
                prices=Prices(catalog, engine, price_sync, repricer.wake, price_list),
                repricing=repricer.progress,
                retention_previews=RetentionPreviews(engine),
                views=SharedRecords(catalog, View, "viw"),
                dashboards=SharedRecords(catalog, Dashboard, "dsh"),
            ),
            alerting=Alerting(
                alerts=Alerts(catalog, clock),
                alert_rules=AlertRules(catalog, agent_records, guard, sender.attempt),
                rule_windows=rule_windows,
                silences=Silences(catalog, clock),
                backtests=Backtests(rule_windows, agent_records, catalog, clock),
                webhooks=Webhooks(catalog, guard, sender.attempt),
                alert_jobs=alert_jobs,
            ),
            experimentation=Experimentation(
                experiments=Experiments(catalog, experiment_cache),
                assignments=Assignments(experiment_cache, pipeline, engine),
                results=Results(engine, agents),
            ),
            readiness=Readiness(
                {
                    "catalog": partial(check_catalog, catalog),
                    "counters": counters.ping,
                    "journal": pipeline.check,
                    "telemetry": engine.check,
                }
            ),
        )


def limits_of(settings: Settings) -> Limits:
    return Limits(
        settings.max_items, settings.max_resources, settings.max_events, settings.max_values
    )
