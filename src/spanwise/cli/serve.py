"""`spanwise serve`: the service in the foreground."""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import structlog
import uvicorn
import uvloop
from fastapi import FastAPI

from spanwise.api.fast_path.assign import AssignLane
from spanwise.api.fast_path.dispatch import Lane
from spanwise.api.fast_path.export import ExportLane
from spanwise.api.http.anonymous_limits import REQUEST_SECONDS
from spanwise.api.http.protocol import with_lanes
from spanwise.api.otlp.grpc import start_grpc, stop_grpc
from spanwise.api.services import Services
from spanwise.cli.flags import new_command, with_settings
from spanwise.cli.logs import configure_logs
from spanwise.model.errors import StartError
from spanwise.model.record import utc_now
from spanwise.services.alerts.alerts import Clock
from spanwise.settings import Settings
from spanwise.wiring.http import create_app
from spanwise.wiring.services import open_services

log = structlog.get_logger()

SHUTDOWN_SECONDS = 30
# Python lets a thread run for 5 ms while others wait. The journal, which requests wait for, has a
# thread of its own: with this, a quarter more first assignments were answered beside ingest.
SWITCH_SECONDS = 0.0005


app = new_command()


@app.command()
@with_settings
def serve(settings: Settings) -> None:
    """Start the service and run until it is told to stop."""
    configure_logs(settings)
    uvloop.run(run_service(settings, listen(settings.host, settings.port)))


async def run_service(
    settings: Settings,
    listener: socket.socket,
    *,
    clock: Clock = utc_now,
    beside: Callable[[Services], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Open the stores, serve until a signal comes, finish what is under way, close the stores.

    `beside` runs while the service does, and takes it down when it fails.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    async with open_services(settings, clock) as services:
        app = create_app(services)
        lanes = (lane(services, app.state.meter) for lane in (ExportLane, AssignLane))
        server = new_server(app, *lanes)
        # The server raises the signal again when it is done. By default that would end the
        # process before the stores are closed.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(server, "should_exit", True))
        host, port = listener.getsockname()[:2]
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        grpc_server = None
        if settings.otlp_grpc_port:
            grpc_server = await start_grpc(services, settings.host, settings.otlp_grpc_port)
        # What is there by now stays: looking through it again and again for garbage stopped all
        # requests for 150 ms each time.
        gc.collect()
        gc.freeze()
        log.info("listening", url=url, api=f"{url}/api")
        async with _running(beside, services, server):
            await server.serve(sockets=[listener])
        if grpc_server is not None:
            await stop_grpc(grpc_server)
    log.info("stopped")


def new_server(
    app: FastAPI, *lanes: Lane, request_seconds: float = REQUEST_SECONDS
) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=cast("Any", with_lanes(*lanes, request_seconds=request_seconds)),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            # Ours go by SPANWISE_TRUSTED_PROXIES; uvicorn's would go by a variable of its own.
            proxy_headers=False,
            # There are no WebSockets here; asking for one gets the ordinary answer.
            ws="none",
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )


@asynccontextmanager
async def _running(
    beside: Callable[[Services], Coroutine[Any, Any, None]] | None,
    services: Services,
    server: uvicorn.Server,
) -> AsyncIterator[None]:
    if beside is None:
        yield
        return
    task = asyncio.create_task(beside(services), name="beside")
    task.add_done_callback(lambda _: setattr(server, "should_exit", True))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def listen(host: str, port: int) -> socket.socket:
    """Take the port before the stores open, so that a taken one is known at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise StartError(
            f"cannot listen on {host}:{port}: {error.strerror}; "
            "choose another with SPANWISE_PORT or --port"
        ) from None
    return listener
