"""Is it alive, is it ready, which version is it. Needs no authentication."""

import platform
from typing import Literal

import structlog

from spanwise import __version__
from spanwise.actions.alert_watch import EvaluationState
from spanwise.api.envelope import Success, succeed
from spanwise.api.noun_router import NounRouter
from spanwise.api.services import Use
from spanwise.model.errors import Unavailable
from spanwise.model.noun import Noun

log = structlog.get_logger()

router = NounRouter("system")


class Health(Noun):
    status: Literal["ok"] = "ok"


class Readiness(Noun):
    status: Literal["ready"] = "ready"
    stores: dict[str, Literal["ok"]]
    jobs: dict[str, EvaluationState]


class Version(Noun):
    version: str
    python: str


@router.get("/health")
async def get_health() -> Success[Health]:
    """The process answers."""
    return succeed(Health())


@router.get("/ready")
async def get_ready(use: Use) -> Success[Readiness]:
    """Every store answers; otherwise 503. A job that fails is named, but does not end readiness."""
    pings = {
        "catalog": use.catalog.ping,
        "counters": use.counters.ping,
        "telemetry": use.engine.ping,
    }
    for name, ping in pings.items():
        try:
            await ping()
        except Exception as error:
            log.warning("store_unreachable", store=name, error=str(error))
            raise Unavailable(f"the {name} store does not answer") from error
    jobs = {"alerts": use.alert_watch.health.state}
    return succeed(Readiness(stores=dict.fromkeys(pings, "ok"), jobs=jobs))


@router.get("/version")
async def get_version() -> Success[Version]:
    """Which version is running."""
    return succeed(Version(version=__version__, python=platform.python_version()))
