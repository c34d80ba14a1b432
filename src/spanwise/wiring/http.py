"""Builds the HTTP application and its fast path from open services."""

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from spanwise.api.fast_path import ExportFastPath
from spanwise.api.http.client_address import ProxyHeaders
from spanwise.api.http.cross_origin import CrossOrigin
from spanwise.api.http.dashboard import install_dashboard
from spanwise.api.http.errors import install_error_handlers
from spanwise.api.http.paths import API_PREFIX
from spanwise.api.http.request_log import RequestLog
from spanwise.api.metrics import AlertCollector, ServiceCollector
from spanwise.api.middleware import CallerLimits, RequestContext
from spanwise.api.openapi.docs_page import install_docs
from spanwise.api.openapi.document import install_openapi
from spanwise.api.routes import agents, alert_rules, alerts, events, experiments, ofrep, system
from spanwise.api.routes.accounts import admin, auth, keys, single_sign_on, users
from spanwise.api.routes.telemetry import (
    analytics,
    batch,
    changes,
    failures,
    logs,
    metrics,
    models,
    otlp,
    sessions,
    signals,
    spans,
    vendor_apis,
)
from spanwise.api.routes.workspaces import (
    dashboards,
    invitation_links,
    invitations,
    masking,
    members,
    views,
    workspaces,
)
from spanwise.api.services import Services

_ROUTE_MODULES = (
    auth,
    single_sign_on,
    experiments,
    users,
    keys,
    workspaces,
    members,
    invitations,
    invitation_links,
    masking,
    views,
    dashboards,
    admin,
    agents,
    alerts,
    alert_rules,
    events,
    spans,
    sessions,
    signals,
    logs,
    metrics,
    analytics,
    batch,
    changes,
    failures,
    models,
    ofrep,
    system,
)


def create_app(services: Services) -> FastAPI:
    app = FastAPI(
        title="Spanwise",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # `/metrics` and the log cover requests; FastAPI would look for telemetry SDKs each time.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        # Operation ids are the names of the route functions.
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.services = services
    app.router.routes.extend([*otlp.routes, *vendor_apis.routes])
    for module in _ROUTE_MODULES:
        app.include_router(module.router, prefix=API_PREFIX)
    install_docs(app)
    install_openapi(app)
    registry = CollectorRegistry()
    registry.register(ServiceCollector(services))
    registry.register(AlertCollector(services.alerting.alert_jobs))
    install_metrics(app, registry)
    app.state.request_log = RequestLog(registry)
    install_dashboard(app)
    install_error_handlers(app)
    # The last middleware added is the outermost.
    app.add_middleware(CallerLimits, services=services)
    app.add_middleware(RequestContext, request_log=app.state.request_log)
    if services.settings.cors_origins:
        app.add_middleware(CrossOrigin, allow_origins=services.settings.cors_origins)
    app.add_middleware(ProxyHeaders, trusted=services.settings.trusted_proxies)
    return app


def create_fast_path(app: FastAPI) -> ExportFastPath:
    """Build the fast path, which responds as `app` would."""
    return ExportFastPath(app.state.services, app.state.request_log)


def install_metrics(app: FastAPI, registry: CollectorRegistry) -> None:
    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
