"""`spanwise serve`: runs the service in the foreground until a signal stops it."""

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

from spanwise.api.fast_path import ExportFastPath
from spanwise.api.http.anonymous_limits import REQUEST_SECONDS
from spanwise.api.otlp.grpc import start_grpc, stop_grpc
from spanwise.api.protocol.server_protocol import new_protocol_factory
from spanwise.api.services import Services
from spanwise.cli.flags import new_command, with_settings
from spanwise.cli.log_setup import configure_logs
from spanwise.model.api_model import Clock, utc_now
from spanwise.model.errors import StartError
from spanwise.settings import Settings
from spanwise.wiring.http import create_app, create_fast_path
from spanwise.wiring.services import open_services

log = structlog.get_logger()

SHUTDOWN_SECONDS = 30
# Exporters send every 5 s by default. With uvicorn's 5 s, connections closed as the next request
# arrived, which then got no response.
KEEP_ALIVE_SECONDS = 75
# Python switches threads every 5 ms by default, which delays the journal thread and with it every
# request that waits for a commit. This value gave 25 % more first assignments per second
# during ingest.
SWITCH_SECONDS = 0.0005
# A garbage collection stops all threads, and the default of 700 new objects starts 1,700 of them
# while a body with 300,000 objects is read. With these values the same takes 119 collections, and
# 0.5 instead of 1.4 s of processor time.
GC_THRESHOLDS = (10_000, 100, 10)


app = new_command()


@app.command()
@with_settings
def serve(settings: Settings) -> None:
    """Start the service and run until it is stopped."""
    configure_logs(settings)
    uvloop.run(run_service(settings, listen(settings.host, settings.port)))


async def run_service(
    settings: Settings,
    listener: socket.socket,
    *,
    clock: Clock = utc_now,
    background: Callable[[Services], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Open the stores, serve until a signal arrives, finish open requests, close the stores.

    `background` runs as long as the service, and stops it when it fails.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    async with open_services(settings, clock) as services:
        app = create_app(services)
        server = new_server(app, create_fast_path(app))
        # uvicorn raises the signal again after shutdown. With the default handler that would end
        # the process before the stores are closed.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(server, "should_exit", True))
        host, port = listener.getsockname()[:2]
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        grpc_server = None
        if settings.otlp_grpc_port:
            grpc_server = await start_grpc(services, settings.host, settings.otlp_grpc_port)
        # Objects created so far live as long as the process. Without freezing them, each full
        # garbage collection stopped all requests for 150 ms.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        log.info("listening", url=url, api=f"{url}/api")
        async with _run_background(background, services, server):
            await server.serve(sockets=[listener])
        if grpc_server is not None:
            await stop_grpc(grpc_server)
    log.info("stopped")


def new_server(
    app: FastAPI, fast_path: ExportFastPath | None = None, request_seconds: float = REQUEST_SECONDS
) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=cast("Any", new_protocol_factory(fast_path, request_seconds)),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            # ProxyHeaders does this, configured by SPANWISE_TRUSTED_PROXIES.
            proxy_headers=False,
            # WebSockets are not supported; a request for one gets the normal HTTP response.
            ws="none",
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
    )


@asynccontextmanager
async def _run_background(
    background: Callable[[Services], Coroutine[Any, Any, None]] | None,
    services: Services,
    server: uvicorn.Server,
) -> AsyncIterator[None]:
    if background is None:
        yield
        return
    task = asyncio.create_task(background(services), name="background")
    task.add_done_callback(lambda _: setattr(server, "should_exit", True))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def listen(host: str, port: int) -> socket.socket:
    """Bind the port before the stores open, so that a port in use is reported at once."""
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
