"""Routes for health, readiness and version, without authentication."""

import platform
from typing import Literal

from spanwise import __version__
from spanwise.api.http.envelope import Success, succeed
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import Use, UseAlerting
from spanwise.model.api_model import ApiModel
from spanwise.services.alerts.evaluation_health import EvaluationState

router = PrefixRouter("system")


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
    """Check that the process responds."""
    return succeed(Health())


@router.get("/ready")
async def get_ready(alerting: UseAlerting, use: Use) -> Success[Readiness]:
    """Check that every store accepts writes and queries; 503 if not. Failing jobs do not count."""
    stores = await use.readiness.check()
    jobs = {"alerts": alerting.alert_jobs.health.state}
    return succeed(Readiness(stores=dict.fromkeys(stores, "ok"), jobs=jobs))


@router.get("/version")
async def get_version() -> Success[Version]:
    """Get the running version."""
    return succeed(Version(version=__version__, python=platform.python_version()))
