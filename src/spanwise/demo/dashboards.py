"""Views and dashboards of the demo: shared ones, and a private one."""

from typing import Any

from spanwise.api.services import Services
from spanwise.model.accounts import Principal
from spanwise.model.dashboards.views import Panel

_VIEWS: list[dict[str, Any]] = [
    {
        "name": "Failed enterprise traces",
        "page": "traces",
        "query": {
            "filters": '[{"field":"attribute:app.plan","op":"eq","value":"enterprise"},'
            '{"field":"status","op":"eq","value":"error"}]',
        },
        "is_shared": True,
    },
    {
        "name": "Costliest conversations",
        "page": "sessions",
        "query": {"sort": "cost", "range": "7d"},
        "is_shared": False,
    },
]
_LLM = [{"field": "kind", "op": "eq", "value": "llm"}]
_TOOLS = [{"field": "kind", "op": "eq", "value": "tool"}]
_PANELS: dict[str, list[dict[str, Any]]] = {
    "Costs": [
        {"title": "Cost", "chart": "number", "width": 4, "query": {"measures": ["cost"]}},
        {
            "title": "Cost by model",
            "chart": "area",
            "width": 8,
            "query": {
                "of": "spans",
                "measures": ["cost"],
                "groupBy": ["model"],
                "granularity": "daily",
                "filters": _LLM,
                "limit": 6,
            },
        },
        {
            "title": "Plans",
            "chart": "bar",
            "query": {"measures": ["cost", "users"], "groupBy": ["attribute:app.plan"]},
        },
        {
            "title": "Cached tokens",
            "chart": "line",
            "query": {
                "of": "spans",
                "measures": ["cachedTokens", "inputTokens"],
                "granularity": "daily",
            },
        },
    ],
    "Tools": [
        {
            "title": "Slowest tools",
            "chart": "table",
            "query": {
                "of": "spans",
                "measures": ["p95", "count", "errorRate"],
                "groupBy": ["tool", "agent"],
                "filters": _TOOLS,
            },
        },
        {
            "title": "Failed calls",
            "chart": "line",
            "query": {
                "of": "spans",
                "measures": ["errors"],
                "groupBy": ["tool"],
                "granularity": "daily",
                "filters": [*_TOOLS, {"field": "status", "op": "eq", "value": "error"}],
                "limit": 5,
            },
        },
    ],
}


async def add_dashboards(services: Services, caller: Principal) -> None:
    for view in _VIEWS:
        await services.views.create(caller, view, None)
    for name, panels in _PANELS.items():
        fields = {
            "name": name,
            "panels": [Panel.model_validate(panel) for panel in panels],
            "is_shared": True,
        }
        await services.dashboards.create(caller, fields, None)
