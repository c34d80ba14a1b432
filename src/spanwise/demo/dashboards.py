"""Views and dashboards of the demo: shared ones, and a private one."""

from typing import Any

from spanwise.api.services import Services
from spanwise.demo.data import FromData
from spanwise.model.accounts import Principal
from spanwise.model.dashboards.views import Panel


class DemoDashboard(FromData):
    name: str
    panels: list[Panel]


class DemoDashboards(FromData):
    views: list[dict[str, Any]]
    dashboards: list[DemoDashboard]


async def add_dashboards(services: Services, caller: Principal) -> None:
    demo = DemoDashboards.read("dashboards")
    for view in demo.views:
        await services.telemetry.views.create(caller, view, None)
    for dashboard in demo.dashboards:
        fields = {"name": dashboard.name, "panels": dashboard.panels, "is_shared": True}
        await services.telemetry.dashboards.create(caller, fields, None)
