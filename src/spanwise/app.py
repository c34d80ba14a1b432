"""The composition root: settings in, running service out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from spanwise.actions.access import Access
from spanwise.actions.accounts import Accounts
from spanwise.actions.agents import AgentDirectory
from spanwise.actions.analytics import Analytics
from spanwise.actions.keys import Keys
from spanwise.actions.mail import Mailer
from spanwise.actions.sign_in_tokens import TokenSigner
from spanwise.actions.traces import Traces
from spanwise.analysis.prices import find_list_prices
from spanwise.api.cross_origin import CrossOrigin
from spanwise.api.docs_page import install_docs
from spanwise.api.errors import install_error_handlers
from spanwise.api.middleware import CallerLimits, RequestContext, RequestMeter
from spanwise.api.openapi import install_openapi
from spanwise.api.routes import admin, analytics, auth, keys, otlp, spans, system, users
from spanwise.api.services import Services
from spanwise.ingest.journal import Journal
from spanwise.ingest.pipeline import Pipeline
from spanwise.ingest.receiver import Receiver
from spanwise.ingest.sink import Sink
from spanwise.jobs.periodic import Periodic
from spanwise.settings import Settings, load_secret_key, prepare_data_dir
from spanwise.storage.catalog import Catalog
from spanwise.storage.counters import open_counters
from spanwise.storage.telemetry.engine import Engine, EngineAddress
from spanwise.storage.telemetry.store import Writer

LAST_USE_SECONDS = 15


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Open the stores, put the actions on top, start the jobs; close all in reverse order."""
    async with AsyncExitStack() as stack:
        prepare_data_dir(settings)
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
        agents = AgentDirectory(catalog)
        engine = Engine.open(telemetry_address(settings), settings.memory_limit_mb)
        stack.callback(engine.close)
        pipeline = open_pipeline(settings, engine, agents)
        await pipeline.start()
        stack.push_async_callback(pipeline.stop)
        yield Services(
            settings=settings,
            catalog=catalog,
            counters=counters,
            access=access,
            accounts=Accounts(settings, catalog, counters, mailer, signer, access),
            keys=Keys(catalog, access),
            engine=engine,
            pipeline=pipeline,
            receiver=Receiver(pipeline),
            agents=agents,
            traces=Traces(engine, pipeline, agents),
            analytics=Analytics(engine, pipeline, agents),
        )


def telemetry_address(settings: Settings) -> EngineAddress:
    """Where telemetry lives: a folder of ours unless a server is named."""
    url = settings.telemetry_url.get_secret_value() if settings.telemetry_url else ""
    if url.startswith("clickhouse"):
        return EngineAddress(server_url=url, cluster=settings.clickhouse_cluster)
    folder = url.removeprefix("chdb://")
    return EngineAddress(folder=Path(folder) if folder else settings.data_dir / "telemetry")


def open_pipeline(settings: Settings, engine: Engine, agents: AgentDirectory) -> Pipeline:
    """Put ingest together: the journal in front, the engine behind it."""
    loop = asyncio.get_running_loop()
    sink = Sink(
        Writer(engine, find_list_prices),
        settings.data_dir / "refused",
        on_agents=lambda seen: agents.notice(seen, loop),
    )
    queue_bytes = settings.memory_limit_mb * 2**20 // 16
    return Pipeline(Journal(settings.data_dir / "journal"), sink, queue_bytes)


def create_app(services: Services) -> FastAPI:
    """Build the HTTP application on services that are open already."""
    app = FastAPI(
        title="Spanwise",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # An operation is called what its function is, also in generated clients.
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.services = services
    for noun in (auth, users, keys, admin, spans, analytics, system):
        app.include_router(noun.router, prefix="/api")
    app.router.routes.extend(otlp.routes)
    registry = CollectorRegistry()
    install_docs(app)
    install_openapi(app)
    install_metrics(app, registry)
    install_error_handlers(app)
    # The last one added is the outermost.
    app.add_middleware(CallerLimits)
    app.add_middleware(RequestContext, meter=RequestMeter(registry))
    if services.settings.cors_origins:
        app.add_middleware(CrossOrigin, allow_origins=services.settings.cors_origins)
    return app


def install_metrics(app: FastAPI, registry: CollectorRegistry) -> None:
    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
