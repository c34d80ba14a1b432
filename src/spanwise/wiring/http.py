"""Builds the HTTP application from open services."""

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from spanwise.api.http.client_address import ProxyHeaders
from spanwise.api.http.cross_origin import CrossOrigin
from spanwise.api.http.dashboard import install_dashboard
from spanwise.api.http.errors import install_error_handlers
from spanwise.api.http.middleware import CallerLimits, RequestContext, RequestMeter, ShortWay
from spanwise.api.http.prefix_router import API_PREFIX
from spanwise.api.metrics.alert_metrics import AlertCollector
from spanwise.api.metrics.service_metrics import ServiceCollector
from spanwise.api.openapi.docs_page import install_docs
from spanwise.api.openapi.document import install_openapi
from spanwise.api.routes import agents, alerts, events, experiments, ofrep, system
from spanwise.api.routes.accounts import admin, auth, keys, users
from spanwise.api.routes.telemetry import analytics, logs, models, otlp, sessions, signals, spans
from spanwise.api.services import Services

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
    registry.register(AlertCollector(services.alert_jobs))
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
