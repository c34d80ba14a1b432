"""Exports a workspace's telemetry to a folder of Parquet files, and imports such a folder."""

import asyncio
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import orjson
from clickhouse_connect.driver.exceptions import ClickHouseError

from spanwise import __version__
from spanwise.ingest.masking.stored_rows import mask_parquet
from spanwise.ingest.receiver import FindMasker
from spanwise.model.agents import AgentActivity
from spanwise.model.api_model import utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.accounts.users import find_account_by_email
from spanwise.storage.catalog.agents import add_seen_agents
from spanwise.storage.telemetry.export import transfer as stored
from spanwise.storage.telemetry.rows.decoding import in_utc
from spanwise.storage.telemetry.write.writer import TelemetryWriter

MANIFEST = "manifest.json"
_FILE = re.compile(rf"({'|'.join(stored.TABLES)})-\d+\.parquet")

# Called after each file with the rows done and the total rows.
Progress = Callable[[int, int], None]


class Transfer:
    def __init__(
        self, catalog: Catalog, writer: TelemetryWriter, masking: FindMasker = lambda _: None
    ) -> None:
        self._catalog = catalog
        self._writer = writer
        self._find_masker = masking

    async def find_workspace(self, email: str, workspace_id: str | None = None) -> str:
        async with self._catalog.read() as tx:
            account = await find_account_by_email(tx, email)
        if account is None:
            raise NotFound(f"there is no account {email}")
        if workspace_id is not None and workspace_id not in account.memberships:
            raise NotFound(f"{email} is not a member of a workspace {workspace_id}")
        return workspace_id or account.default_workspace_id or ""

    async def export(self, workspace: str, folder: Path, progress: Progress) -> Mapping[str, int]:
        """Write a workspace's telemetry to an empty folder; return the row counts by table."""
        return await asyncio.to_thread(self._export, workspace, folder, progress)

    def _export(self, workspace: str, folder: Path, progress: Progress) -> Mapping[str, int]:
        if folder.exists() and any(folder.iterdir()):
            raise Invalid(f"{folder} is not empty")
        folder.mkdir(parents=True, exist_ok=True)
        chunks = self._writer.run_exclusively(lambda client: stored.split_tables(client, workspace))
        total, done = sum(chunk.rows for chunk in chunks), 0
        rows = dict.fromkeys(stored.TABLES, 0)
        for number, chunk in enumerate(chunks, 1):
            data = self._writer.run_exclusively(
                partial(stored.export_chunk, workspace=workspace, chunk=chunk)
            )
            (folder / f"{chunk.table}-{number:06}.parquet").write_bytes(data)
            rows[chunk.table] += chunk.rows
            done += chunk.rows
            progress(done, total)
        manifest = {"spanwise": __version__, "exportedAt": utc_now(), "rows": rows}
        # Written last: a folder without a manifest is incomplete.
        (folder / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        return rows

    async def import_folder(
        self, workspace: str, folder: Path, progress: Progress
    ) -> Mapping[str, int]:
        """Import an exported folder into a workspace, masked by its rules; idempotent."""
        rows = await asyncio.to_thread(self._import_folder, workspace, folder, progress)
        await self._register_agents(workspace)
        return rows

    def _import_folder(self, workspace: str, folder: Path, progress: Progress) -> Mapping[str, int]:
        total = _read_manifest(folder)
        files = sorted(path for path in folder.iterdir() if _FILE.fullmatch(path.name))
        rows = dict.fromkeys(stored.TABLES, 0)
        for path in files:
            table = path.name.partition("-")[0]
            rows[table] += self._import_file(workspace, table, path)
            progress(sum(rows.values()), total)
        return rows

    def _import_file(self, workspace: str, table: str, path: Path) -> int:
        data = path.read_bytes()
        try:
            if masker := self._find_masker(workspace):
                data = mask_parquet(masker, table, data)
            return self._writer.run_exclusively(
                lambda client: stored.import_file(client, workspace, table, data)
            )
        except (ClickHouseError, Invalid) as error:
            raise Invalid(f"{path} cannot be read: {str(error).splitlines()[0]}") from error

    async def _register_agents(self, workspace: str) -> None:
        rows = await asyncio.to_thread(
            self._writer.run_exclusively, lambda client: stored.find_agents(client, workspace)
        )
        seen = [
            AgentActivity(workspace, row["name"], in_utc(row["first"]), in_utc(row["last"]))
            for row in rows
        ]
        async with self._catalog.write() as tx:
            await add_seen_agents(tx, seen)


def _read_manifest(folder: Path) -> int:
    try:
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        return sum(manifest["rows"].values())
    except OSError:
        raise Invalid(f"{folder} has no {MANIFEST}: it is not a complete export") from None
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise Invalid(f"{folder / MANIFEST} is not a valid export manifest") from None
