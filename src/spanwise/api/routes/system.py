"""Is it alive, is it ready, which version is it. Needs no authentication."""

import platform
from typing import Literal

from spanwise import __version__
from spanwise.api.http.envelope import Success, succeed
from spanwise.api.http.prefix_router import NounRouter
from spanwise.api.services import Use
from spanwise.model.record import ApiModel
from spanwise.services.alerts.evaluation_health import EvaluationState

router = NounRouter("system")


class Health(ApiModel):
    status: Literal["ok"] = "ok"


class Readiness(ApiModel):
    status: Literal["ready"] = "ready"
    stores: dict[str, Literal["ok"]]
    jobs: dict[str, EvaluationState]


class Version(ApiModel):
    version: str
    python: str


@router.get("/health")
async def get_health() -> Success[Health]:
    """The process answers."""
    return succeed(Health())


@router.get("/ready")
async def get_ready(use: Use) -> Success[Readiness]:
    """Every store takes writes and queries; otherwise 503. A failing job does not end readiness."""
    stores = await use.readiness.check()
    jobs = {"alerts": use.alert_jobs.health.state}
    return succeed(Readiness(stores=dict.fromkeys(stores, "ok"), jobs=jobs))


@router.get("/version")
async def get_version() -> Success[Version]:
    """Which version is running."""
    return succeed(Version(version=__version__, python=platform.python_version()))
