"""The composition root: settings in, running service out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from datetime import timedelta
from functools import partial
from pathlib import Path

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from spanwise.actions.access import Access
from spanwise.actions.accounts import Accounts
from spanwise.actions.agents import AgentDirectory, Agents
from spanwise.actions.alerts import Alerts, Clock
from spanwise.actions.analytics import Analytics
from spanwise.actions.assignments import Assignments, Definitions
from spanwise.actions.backtest import Backtests
from spanwise.actions.experiment_results import Results
from spanwise.actions.experiments import Experiments
from spanwise.actions.keys import Keys
from spanwise.actions.logs import Logs
from spanwise.actions.mail import Mailer
from spanwise.actions.prices import PriceBook, Prices
from spanwise.actions.readiness import Readiness, check_catalog
from spanwise.actions.sessions import Sessions
from spanwise.actions.sign_in_tokens import TokenSigner
from spanwise.actions.signals import Signals
from spanwise.actions.traces import Traces
from spanwise.actions.transfer import Transfer
from spanwise.actions.webhook_guard import WebhookGuard
from spanwise.actions.webhooks import Webhooks
from spanwise.analysis.prices import find_list_prices
from spanwise.api.alert_metrics import AlertCollector
from spanwise.api.client_address import ProxyHeaders
from spanwise.api.cross_origin import CrossOrigin
from spanwise.api.dashboard import install_dashboard
from spanwise.api.docs_page import install_docs
from spanwise.api.errors import install_error_handlers
from spanwise.api.meters import ServiceCollector
from spanwise.api.middleware import CallerLimits, RequestContext, RequestMeter, ShortWay
from spanwise.api.noun_router import API_PREFIX
from spanwise.api.openapi import install_openapi
from spanwise.api.routes import (
    admin,
    agents,
    alerts,
    analytics,
    auth,
    events,
    experiments,
    keys,
    logs,
    models,
    ofrep,
    otlp,
    sessions,
    signals,
    spans,
    system,
    users,
)
from spanwise.api.services import Services
from spanwise.ingest.intake import Intake
from spanwise.ingest.journal import Journal, hold_journal
from spanwise.ingest.meter import IngestMeter, MeteredStore
from spanwise.ingest.pipeline import Pipeline
from spanwise.ingest.receiver import Receiver
from spanwise.ingest.sink import Sink
from spanwise.jobs.alerting import start_alerting
from spanwise.jobs.alerts import AlertEvaluator
from spanwise.jobs.notifications import NotificationSender
from spanwise.jobs.periodic import Periodic
from spanwise.jobs.repricing import Repricer
from spanwise.jobs.retention import Retention
from spanwise.jobs.rollup import Sweeper
from spanwise.model.errors import StartError
from spanwise.model.noun import new_id, utc_now
from spanwise.settings import Settings, load_secret_key, prepare_data_dir
from spanwise.storage.catalog import Catalog
from spanwise.storage.counters import open_counters
from spanwise.storage.telemetry.engine import Engine, EngineAddress, yield_to_readers
from spanwise.storage.telemetry.rollup import Rollup
from spanwise.storage.telemetry.schema import apply_schema
from spanwise.storage.telemetry.store import Writer

LAST_USE_SECONDS = 15
SIGHTING_SECONDS = 15
SECOND_LOOK_SECONDS = 10

_NOUNS = (
    auth,
    experiments,
    users,
    keys,
    admin,
    agents,
    alerts,
    events,
    spans,
    sessions,
    signals,
    logs,
    analytics,
    models,
    ofrep,
    system,
)


@asynccontextmanager
async def open_services(settings: Settings, clock: Clock = utc_now) -> AsyncIterator[Services]:
    """Open the stores, put the actions on top, start the jobs; close all in reverse order.

    `clock` is what alerts are evaluated by; a test may turn it.
    """
    async with AsyncExitStack() as stack:
        # Before anything else: a process that may not have the journal changes nothing.
        journal = stack.enter_context(closing(open_journal(settings)))
        signer = TokenSigner(load_secret_key(settings), timedelta(hours=settings.jwt_hours))
        catalog = await Catalog.open(settings.catalog_address)
        stack.push_async_callback(catalog.close)
        redis_url = settings.redis_url.get_secret_value() if settings.redis_url else None
        counters = await open_counters(redis_url)
        stack.push_async_callback(counters.close)
        mailer = Mailer.from_settings(settings)
        stack.push_async_callback(mailer.drain)
        access = Access(catalog, signer)
        last_uses = Periodic("write_last_uses", LAST_USE_SECONDS, access.write_last_uses)
        last_uses.start()
        stack.push_async_callback(last_uses.stop)
        agents = open_agents(stack, catalog)
        engine = Engine.open(telemetry_address(settings), settings.memory_limit_mb)
        stack.callback(engine.close)
        writer = open_writer(engine, catalog)
        stack.callback(writer.close)
        meter = IngestMeter()
        pipeline = open_pipeline(settings, journal, writer, agents, meter)
        sightings = Periodic("write_sightings", SIGHTING_SECONDS, agents.write_sightings)
        sightings.start()
        stack.push_async_callback(sightings.stop)
        await pipeline.start()
        stack.push_async_callback(pipeline.stop)
        second_looks = Periodic(
            "look_again", SECOND_LOOK_SECONDS, lambda: asyncio.to_thread(writer.look_again)
        )
        second_looks.start()
        stack.push_async_callback(second_looks.stop)
        book = PriceBook(catalog, writer)
        is_alone = engine.address.folder is not None
        repricer = Repricer(catalog, writer, book, find_list_prices, is_alone=is_alone)
        repricer.start()
        stack.push_async_callback(repricer.stop)
        receiver = Receiver(pipeline, meter)
        rollup = Rollup(
            engine,
            visible_until=writer.visible_until,
            changes=writer.changes,
            visible_as_of=pipeline.visible_as_of,
        )
        retention = Retention(engine, writer, rollup, catalog, settings.retention_days)
        retention.start()
        stack.push_async_callback(retention.stop)
        sweeper = Sweeper(rollup)
        sweeper.start()
        stack.push_async_callback(sweeper.stop)
        definitions = Definitions(catalog)
        agent_records = Agents(catalog, engine, pipeline, agents)
        guard = WebhookGuard(allow_private=settings.allow_private_webhooks)
        sender = NotificationSender(catalog, mailer, guard, settings.public_address, clock)
        evaluator = AlertEvaluator(
            catalog,
            engine,
            pipeline,
            settings.alert_interval_seconds,
            holder="embedded" if is_alone else new_id("rep"),
            clock=clock,
        )
        alert_watch = await start_alerting(stack, evaluator, sender, is_alone=is_alone)
        yield Services(
            settings=settings,
            catalog=catalog,
            counters=counters,
            access=access,
            accounts=Accounts(settings, catalog, counters, mailer, signer, access),
            keys=Keys(catalog, access),
            engine=engine,
            pipeline=pipeline,
            receiver=receiver,
            intake=Intake(min(settings.memory_limit_mb * 2**20 // 8, 256 * 2**20)),
            agents=agent_records,
            traces=Traces(engine, pipeline, agents, rollup),
            alerts=Alerts(catalog, agent_records, guard, clock),
            backtests=Backtests(engine, agent_records, clock),
            webhooks=Webhooks(catalog, guard, sender.attempt),
            alert_watch=alert_watch,
            prices=Prices(catalog, engine, pipeline, book, repricer.wake),
            meter=meter,
            repricing=repricer.progress,
            sessions=Sessions(engine, pipeline, agents),
            signals=Signals(engine, pipeline, receiver, agents),
            logs=Logs(engine, pipeline, receiver, agents),
            analytics=Analytics(engine, rollup, pipeline, agents, catalog),
            rollup=rollup,
            experiments=Experiments(catalog, definitions),
            assignments=Assignments(definitions, pipeline, engine),
            results=Results(engine, pipeline, agents),
            readiness=Readiness(
                {
                    "catalog": partial(check_catalog, catalog),
                    "counters": counters.ping,
                    "journal": pipeline.check,
                    "telemetry": engine.check,
                }
            ),
        )


@asynccontextmanager
async def open_accounts(settings: Settings) -> AsyncIterator[Accounts]:
    """Open what accounts need, for the command line: the engine is the running service's own."""
    async with AsyncExitStack() as stack:
        prepare_data_dir(settings)
        signer = TokenSigner(load_secret_key(settings), timedelta(hours=settings.jwt_hours))
        catalog = await Catalog.open(settings.catalog_address)
        stack.push_async_callback(catalog.close)
        mailer = Mailer.from_settings(settings)
        stack.push_async_callback(mailer.drain)
        counters, access = await open_counters(None), Access(catalog, signer)
        yield Accounts(settings, catalog, counters, mailer, signer, access)


@asynccontextmanager
async def open_transfer(settings: Settings) -> AsyncIterator[Transfer]:
    """Open what export and import need.

    The embedded engine has one process, so what a killed one left in the journal is stored first.
    On a server the services may be running: their journals are theirs.
    """
    address, journal = telemetry_address(settings), None
    async with AsyncExitStack() as stack:
        if address.folder is not None:
            journal = stack.enter_context(closing(open_journal(settings)))
        catalog = await Catalog.open(settings.catalog_address)
        stack.push_async_callback(catalog.close)
        engine = Engine.open(address, settings.memory_limit_mb)
        stack.callback(engine.close)
        writer = open_writer(engine, catalog)
        stack.callback(writer.close)
        if journal is not None:
            agents = open_agents(stack, catalog)
            pipeline = open_pipeline(settings, journal, writer, agents, IngestMeter())
            await pipeline.start()
            stack.push_async_callback(pipeline.stop)
            if pipeline.load().is_stalled:
                raise StartError("the telemetry store cannot take in what the journal holds")
        yield Transfer(catalog, writer)


@asynccontextmanager
async def open_stores(
    settings: Settings, *, beside_service: bool
) -> AsyncIterator[tuple[Catalog, Engine]]:
    """Open catalog and engine alone, with their schemas up to date, for the command line.

    Nothing is changed while a service has the embedded engine, or may not run `beside_service`.
    """
    address = telemetry_address(settings)
    async with AsyncExitStack() as stack:
        if address.folder is not None or not beside_service:
            prepare_data_dir(settings)
            stack.enter_context(hold_journal(journal_folder(settings)))
        engine = Engine.open(address, settings.memory_limit_mb)
        stack.callback(engine.close)
        catalog = await Catalog.open(settings.catalog_address)
        stack.push_async_callback(catalog.close)
        with catalog.migration_lock(), engine.client() as client:
            apply_schema(client, engine.address)
        yield catalog, engine


def journal_folder(settings: Settings) -> Path:
    return settings.data_dir / "journal"


def open_journal(settings: Settings) -> Journal:
    prepare_data_dir(settings)
    return Journal(journal_folder(settings))


def open_writer(engine: Engine, catalog: Catalog) -> Writer:
    """Bring the telemetry schema up to date, one replica at a time, and open its writer."""
    with catalog.migration_lock():
        return Writer(engine, find_list_prices)


def telemetry_address(settings: Settings) -> EngineAddress:
    """Where telemetry lives: a folder of ours unless a server is named."""
    url = settings.telemetry_url.get_secret_value() if settings.telemetry_url else ""
    if url.startswith("clickhouse"):
        return EngineAddress(server_url=url, cluster=settings.clickhouse_cluster)
    folder = url.removeprefix("chdb://")
    return EngineAddress(folder=Path(folder) if folder else settings.data_dir / "telemetry")


def open_agents(stack: AsyncExitStack, catalog: Catalog) -> AgentDirectory:
    agents = AgentDirectory(catalog)
    stack.push_async_callback(agents.close)
    return agents


def open_pipeline(
    settings: Settings,
    journal: Journal,
    writer: Writer,
    agents: AgentDirectory,
    meter: IngestMeter,
) -> Pipeline:
    """Put ingest together: the journal in front, the engine behind it."""
    loop = asyncio.get_running_loop()
    sink = Sink(
        writer,
        settings.data_dir / "refused",
        on_agents=lambda seen: agents.notice(seen, loop),
    )
    # Enough for four bodies of the largest size; a longer queue would only answer later.
    queue_bytes = min(settings.memory_limit_mb * 2**20 // 16, 64 * 2**20)
    min_free_bytes = settings.min_free_disk_mb * 2**20
    return Pipeline(
        journal,
        MeteredStore(sink, meter),
        queue_bytes,
        min_free_bytes,
        agents.has_pending,
        yield_to_readers,
    )


def create_app(services: Services) -> FastAPI:
    """Build the HTTP application on services that are open already."""
    app = FastAPI(
        title="Spanwise",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # `/metrics` and the log tell of requests; the framework would look for SDKs at each.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        # An operation is called what its function is, also in generated clients.
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.services = services
    for noun in _NOUNS:
        app.include_router(noun.router, prefix=API_PREFIX)
    registry = CollectorRegistry()
    install_docs(app)
    install_openapi(app)
    registry.register(ServiceCollector(services))
    registry.register(AlertCollector(services.alert_watch))
    install_metrics(app, registry)
    install_dashboard(app)
    install_error_handlers(app)
    # The last one added is the outermost.
    app.add_middleware(ShortWay, routes=otlp.routes)
    app.add_middleware(CallerLimits, services=services)
    app.state.meter = RequestMeter(registry)
    app.add_middleware(RequestContext, meter=app.state.meter)
    if services.settings.cors_origins:
        app.add_middleware(CrossOrigin, allow_origins=services.settings.cors_origins)
    app.add_middleware(ProxyHeaders, trusted=services.settings.trusted_proxies)
    return app


def install_metrics(app: FastAPI, registry: CollectorRegistry) -> None:
    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
