"""Serves the application on a real port, for clients that need a URL."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from support.service import Service


@asynccontextmanager
async def listen(service: Service) -> AsyncIterator[str]:
    """Serve on a free local port; yield the base URL of the API."""
    config = uvicorn.Config(service.app, port=0, lifespan="off", log_config=None, ws="none")
    server = uvicorn.Server(config)
    # _serve() installs no signal handlers: those belong to the test runner.
    serving = asyncio.create_task(server._serve())
    try:
        while not server.started:  # noqa: ASYNC110 -- uvicorn has no event for it
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/api"
    finally:
        server.should_exit = True
        await serving
