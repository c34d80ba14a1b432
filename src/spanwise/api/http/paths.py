"""Paths with a meaning outside of their route: those under the API, and those of exports."""

from spanwise.ingest.records.record import Kind

API_PREFIX = "/api"

# Includes the paths of other products, so that an exporter can switch by changing only its host.
# Some post traces to the endpoint as it was configured, without a path below it.
_PATHS_BY_KIND = {
    Kind.TRACES: (
        "/api/otlp/v1/traces",
        "/v1/traces",
        "/api/public/otel/v1/traces",
        "/otel/v1/traces",
        "/v1/private/otel/v1/traces",
        "/api/v1/private/otel/v1/traces",
        "/api/otlp",
        "/api/public/otel",
    ),
    Kind.LOGS: ("/api/otlp/v1/logs", "/v1/logs", "/api/public/otel/v1/logs"),
    Kind.METRICS: ("/api/otlp/v1/metrics", "/v1/metrics", "/api/public/otel/v1/metrics"),
}
NAMED_EXPORT_PATHS = {path: kind for kind, paths in _PATHS_BY_KIND.items() for path in paths}
# A trailing slash makes no difference.
EXPORT_PATHS = {
    f"{path}{end}": kind for path, kind in NAMED_EXPORT_PATHS.items() for end in ("", "/")
}


def is_api_path(path: str) -> bool:
    return path.startswith(f"{API_PREFIX}/")
