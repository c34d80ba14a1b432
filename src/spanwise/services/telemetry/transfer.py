"""Takes one workspace's telemetry out into a folder, and from a folder in again."""

import asyncio
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import orjson
from clickhouse_connect.driver.exceptions import ClickHouseError

from spanwise import __version__
from spanwise.model.agents import Sighting
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.record import utc_now
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.agents import add_seen_agents
from spanwise.storage.catalog.users import find_account_by_email
from spanwise.storage.telemetry.export import transfer as stored
from spanwise.storage.telemetry.spans.decoding import in_utc
from spanwise.storage.telemetry.writer import TelemetryWriter

MANIFEST = "manifest.json"
_FILE = re.compile(rf"({'|'.join(stored.TABLES)})-\d+\.parquet")

# Told after each file: rows done, rows in all.
Progress = Callable[[int, int], None]


class Transfer:
    def __init__(self, catalog: Catalog, writer: TelemetryWriter) -> None:
        self._catalog = catalog
        self._writer = writer

    async def find_workspace(self, email: str) -> str:
        async with self._catalog.read() as tx:
            account = await find_account_by_email(tx, email)
        if account is None:
            raise NotFound(f"there is no account {email}")
        return account.workspace_id

    async def export(self, workspace: str, folder: Path, progress: Progress) -> Mapping[str, int]:
        """Write a workspace's telemetry into an empty folder; returns the rows of each table."""
        return await asyncio.to_thread(self._export, workspace, folder, progress)

    def _export(self, workspace: str, folder: Path, progress: Progress) -> Mapping[str, int]:
        if folder.exists() and any(folder.iterdir()):
            raise Invalid(f"{folder} is not empty")
        folder.mkdir(parents=True, exist_ok=True)
        pieces = self._writer.run_exclusively(lambda client: stored.split_tables(client, workspace))
        total, done = sum(piece.rows for piece in pieces), 0
        rows = dict.fromkeys(stored.TABLES, 0)
        for number, piece in enumerate(pieces, 1):
            data = self._writer.run_exclusively(
                partial(stored.export_chunk, workspace=workspace, chunk=piece)
            )
            (folder / f"{piece.table}-{number:06}.parquet").write_bytes(data)
            rows[piece.table] += piece.rows
            done += piece.rows
            progress(done, total)
        manifest = {"spanwise": __version__, "exportedAt": utc_now(), "rows": rows}
        # Written last: a folder without it was not finished.
        (folder / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        return rows

    async def take_in(self, workspace: str, folder: Path, progress: Progress) -> Mapping[str, int]:
        """Read an export into a workspace; doing so again changes nothing."""
        rows = await asyncio.to_thread(self._take_in, workspace, folder, progress)
        await self._notice_agents(workspace)
        return rows

    def _take_in(self, workspace: str, folder: Path, progress: Progress) -> Mapping[str, int]:
        total = _read_manifest(folder)
        files = sorted(path for path in folder.iterdir() if _FILE.fullmatch(path.name))
        rows = dict.fromkeys(stored.TABLES, 0)
        for path in files:
            table = path.name.partition("-")[0]
            rows[table] += self._take_file(workspace, table, path)
            progress(sum(rows.values()), total)
        return rows

    def _take_file(self, workspace: str, table: str, path: Path) -> int:
        data = path.read_bytes()
        try:
            return self._writer.run_exclusively(
                lambda client: stored.import_file(client, workspace, table, data)
            )
        except ClickHouseError as error:
            raise Invalid(f"{path} cannot be read: {str(error).splitlines()[0]}") from error

    async def _notice_agents(self, workspace: str) -> None:
        found = await asyncio.to_thread(
            self._writer.run_exclusively, lambda client: stored.find_agents(client, workspace)
        )
        seen = [
            Sighting(workspace, row["name"], in_utc(row["first"]), in_utc(row["last"]))
            for row in found
        ]
        async with self._catalog.write() as tx:
            await add_seen_agents(tx, seen)


def _read_manifest(folder: Path) -> int:
    try:
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        return sum(manifest["rows"].values())
    except OSError:
        raise Invalid(f"{folder} has no {MANIFEST}: it is no finished export") from None
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise Invalid(f"{folder / MANIFEST} is not one that an export wrote") from None
