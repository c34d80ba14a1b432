"""Opens the journal, the catalog, the rate-limit counters and the telemetry engine."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

from spanwise.ingest.commit.journal import Journal, hold_journal
from spanwise.model.errors import StartError
from spanwise.services.telemetry.price_list import PriceList
from spanwise.settings import Settings, prepare_data_dir
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.database import driver_url, format_url
from spanwise.storage.counters import Counters, MemoryCounters
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.engine.table_sizes import holds_telemetry
from spanwise.storage.telemetry.schema import apply_schema
from spanwise.storage.telemetry.write.writer import TelemetryWriter


def telemetry_address(settings: Settings) -> EngineAddress:
    """Return the telemetry address: a folder in the data directory unless a server is given."""
    url = settings.telemetry_url.get_secret_value() if settings.telemetry_url else ""
    if url.startswith("clickhouse"):
        return EngineAddress(server_url=url, cluster=settings.clickhouse_cluster)
    folder = url.removeprefix("chdb://")
    return EngineAddress(folder=Path(folder) if folder else settings.data_dir / "telemetry")


def journal_folder(settings: Settings) -> Path:
    return settings.data_dir / "journal"


def open_journal(settings: Settings) -> Journal:
    prepare_data_dir(settings)
    return Journal(journal_folder(settings))


async def open_catalog(settings: Settings) -> Catalog:
    """Open the catalog; a missing one is created, unless it was lost."""
    await check_not_lost(settings)
    return await Catalog.open(settings.catalog_address)


async def check_not_lost(settings: Settings) -> None:
    """Raise StartError if there is no catalog, but telemetry of an earlier one.

    This must not start as a new installation, whose first account is its admin.
    """
    if not await Catalog.exists(settings.catalog_address) and await _holds_telemetry(settings):
        shown = format_url(driver_url(settings.catalog_address))
        raise StartError(
            f"the catalog at {shown} is missing or empty, but the telemetry store has data: "
            "restore the catalog from a backup, or correct SPANWISE_CATALOG_URL; for a new "
            "installation, choose an empty SPANWISE_DATA_DIR or SPANWISE_TELEMETRY_URL"
        )


async def _holds_telemetry(settings: Settings) -> bool:
    address = telemetry_address(settings)
    if address.folder is not None and not address.folder.exists():
        return False
    with closing(Engine.open(address, settings.memory_limit_mb)) as engine:
        return await holds_telemetry(engine)


async def open_counters(redis_url: str | None) -> Counters:
    if redis_url is None:
        return MemoryCounters()
    # Imported here: most installations have no Redis, and its client slows down every start.
    from spanwise.storage.redis_counters import RedisCounters  # noqa: PLC0415

    return await RedisCounters.open(redis_url)


def open_writer(engine: Engine, catalog: Catalog, price_list: PriceList) -> TelemetryWriter:
    """Migrate the telemetry schema, one replica at a time, and open its writer."""
    with catalog.migration_lock():
        return TelemetryWriter(engine, price_list.find)


@asynccontextmanager
async def open_stores(
    settings: Settings, *, beside_service: bool
) -> AsyncIterator[tuple[Catalog, Engine]]:
    """Open catalog and engine with current schemas, for commands.

    The journal is locked first, so that nothing changes while a service runs: always with the
    embedded engine, and on a server unless the command may run `beside_service`.
    """
    address = telemetry_address(settings)
    async with AsyncExitStack() as stack:
        if address.folder is not None or not beside_service:
            prepare_data_dir(settings)
            stack.enter_context(hold_journal(journal_folder(settings)))
        catalog = await open_catalog(settings)
        stack.push_async_callback(catalog.close)
        engine = Engine.open(address, settings.memory_limit_mb)
        stack.callback(engine.close)
        with catalog.migration_lock(), engine.client() as client:
            apply_schema(client, engine.address)
        yield catalog, engine
