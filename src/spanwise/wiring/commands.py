"""Opens the parts of the service that CLI commands need."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from datetime import timedelta

from spanwise.ingest.commit.counters import IngestCounters
from spanwise.model.errors import StartError
from spanwise.services.access import Access
from spanwise.services.accounts.accounts import Accounts
from spanwise.services.notifications.mail import Mailer
from spanwise.services.telemetry.price_list import PriceList
from spanwise.services.telemetry.transfer import Transfer
from spanwise.services.tokens import TokenSigner
from spanwise.services.workspaces.masking import Masking
from spanwise.services.workspaces.operations import WorkspaceOperations
from spanwise.settings import Settings, load_secret_key, prepare_data_dir
from spanwise.storage.counters import MemoryCounters
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.wiring.ingest import open_agents, open_pipeline
from spanwise.wiring.stores import open_catalog, open_journal, open_writer, telemetry_address


@asynccontextmanager
async def open_accounts(settings: Settings) -> AsyncIterator[Accounts]:
    """Open the accounts without the telemetry engine, which a running service may hold."""
    async with AsyncExitStack() as stack:
        prepare_data_dir(settings)
        signer = TokenSigner(load_secret_key(settings), timedelta(hours=settings.jwt_hours))
        catalog = await open_catalog(settings)
        stack.push_async_callback(catalog.close)
        mailer = Mailer.from_settings(settings)
        stack.push_async_callback(mailer.drain)
        counters, access = MemoryCounters(), Access(catalog, signer)
        yield Accounts(settings, catalog, counters, mailer, signer, access)


@asynccontextmanager
async def open_workspaces(settings: Settings) -> AsyncIterator[WorkspaceOperations]:
    """Open the workspaces without the telemetry engine, which a running service may hold."""
    prepare_data_dir(settings)
    catalog = await open_catalog(settings)
    try:
        yield WorkspaceOperations(catalog)
    finally:
        await catalog.close()


@asynccontextmanager
async def open_transfer(settings: Settings) -> AsyncIterator[Transfer]:
    """Open what the export and import commands need.

    With the embedded engine, records that a killed service left in the journal are stored first. On
    a server, services may be running and replay their journals themselves.
    """
    address, journal = telemetry_address(settings), None
    async with AsyncExitStack() as stack:
        if address.folder is not None:
            journal = stack.enter_context(closing(open_journal(settings)))
        catalog = await open_catalog(settings)
        stack.push_async_callback(catalog.close)
        engine = Engine.open(address, settings.memory_limit_mb)
        stack.callback(engine.close)
        writer = open_writer(engine, catalog, PriceList(settings.price_list_path))
        stack.callback(writer.close)
        if journal is not None:
            agents = open_agents(stack, catalog)
            pipeline = open_pipeline(settings, journal, writer, agents, IngestCounters())
            await pipeline.start()
            stack.push_async_callback(pipeline.stop)
            if pipeline.load().is_stalled:
                raise StartError("the telemetry store cannot store the records in the journal")
        masking = Masking(catalog)
        await masking.refresh()
        yield Transfer(catalog, writer, masking.find_masker)
