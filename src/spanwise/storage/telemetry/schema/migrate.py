"""Migrates the telemetry schema: runs missing SQL files, then creates the generated views."""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable

from clickhouse_connect.driver.client import Client

from spanwise.model.errors import StartError
from spanwise.storage.schema_state import DEVELOPMENT_STORE
from spanwise.storage.telemetry.engine.client_pool import EngineAddress
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.prices.price_dictionary import dictionary_ddl
from spanwise.storage.telemetry.schema.landing_tables import LANDING_TABLES

# Parts are synced to disk before the journal drops their records: "2xx means stored" needs it.
_DURABILITY_SETTINGS = (
    "fsync_after_insert = 1, fsync_part_directory = 1, "
    "min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1, "
    "old_parts_lifetime = 480, ttl_only_drop_parts = 1"
)

SCHEMA_FOLDER: Traversable = files(__package__)

# The first file of stores that are older than the baseline.
_BEFORE_BASELINE = "0001_telemetry.sql"

_VERSIONS_TABLE = """CREATE TABLE IF NOT EXISTS schema_versions (name String)
ENGINE = MergeTree() ORDER BY name"""

_BOUNDS_VIEW = """CREATE MATERIALIZED VIEW IF NOT EXISTS trace_bounds_view TO trace_bounds AS
SELECT workspace, trace_id, min(hour) AS first_hour, max(hour) AS last_hour,
    min(version) AS first_version, max(version) AS last_version
FROM spans GROUP BY workspace, trace_id"""


def apply_schema(client: Client, address: EngineAddress) -> None:
    """Run the SQL files that are missing, then create the views this version needs.

    A file is recorded after its last statement. After a kill the next start repeats the whole file,
    so every statement must be idempotent. Replicas take turns under `Catalog.migration_lock`,
    because a migration may truncate a table that another replica would already be filling.
    """
    cluster = address.cluster
    if cluster is not None:
        _check_single_shard(client, cluster)
    client.command(on_cluster(with_durability(_VERSIONS_TABLE), cluster))
    done = {row["name"] for row in query_rows(client, "SELECT name FROM schema_versions", {})}
    if _BEFORE_BASELINE in done:
        raise StartError(f"cannot open the telemetry store: {DEVELOPMENT_STORE}")
    for name, text in _read_files():
        if name not in done:
            for statement in split_statements(text):
                client.command(on_cluster(with_durability(statement), cluster))
            sql = "INSERT INTO schema_versions SELECT {name:String}"
            client.command(sql, parameters={"name": name})
    _update_views(client, address)


def _check_single_shard(client: Client, cluster: str) -> None:
    sql = "SELECT uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {name:String}"
    shards = query_rows(client, sql, {"name": cluster})[0]["shards"]
    if shards == 0:
        raise StartError(f"the ClickHouse server has no cluster {cluster}")
    if shards > 1:
        raise StartError(
            f"the cluster {cluster} has {shards} shards; Spanwise needs one shard, "
            "with any number of replicas"
        )


def _update_views(client: Client, address: EngineAddress) -> None:
    """Create the views of this version that are missing, and drop those of other versions."""
    cluster, credentials = address.cluster, address.credentials
    embedded = address.folder is not None
    dictionary = (
        dictionary_ddl()
        if embedded
        else dictionary_ddl(credentials.user, credentials.password, credentials.database)
    )
    statements = {"price_list": dictionary, "trace_bounds_view": _BOUNDS_VIEW}
    for landing in LANDING_TABLES.values():
        table = landing.name
        statements |= {
            table: f"CREATE TABLE IF NOT EXISTS {table} ({landing.columns}) ENGINE = Null",
            f"{table}_view": f"CREATE MATERIALIZED VIEW IF NOT EXISTS {table}_view "
            f"TO {landing.target} AS {landing.select(table)}",
        }
    # The engine would analyze the query of an existing view again, for 0.3 s of each start. In a
    # cluster, another node may lack what this one has.
    tables = _find_tables(client)
    existing = tables if cluster is None else []
    for name, statement in statements.items():
        if name not in existing:
            client.command(on_cluster(statement, cluster))
    for landing in LANDING_TABLES.values():
        others = [name for name in tables if landing.is_other_version(name)]
        # During a rolling upgrade, replicas of the version before this one still write.
        for table in others if embedded else others[:-1]:
            # Without its view a landing table would lose rows, so it goes first.
            for name in (table, f"{table}_view"):
                client.command(on_cluster(f"DROP TABLE IF EXISTS {name}", cluster))


def _find_tables(client: Client) -> list[str]:
    """Return the names of all tables and views, the latest last."""
    sql = """SELECT name FROM system.tables WHERE database = currentDatabase()
    ORDER BY metadata_modification_time, name"""
    return [row["name"] for row in query_rows(client, sql, {})]


def _read_files() -> list[tuple[str, str]]:
    names = sorted(item.name for item in SCHEMA_FOLDER.iterdir() if item.name.endswith(".sql"))
    return [(name, SCHEMA_FOLDER.joinpath(name).read_text()) for name in names]


def schema_file_names() -> set[str]:
    """Return the names of the numbered files, as `schema_versions` records them."""
    return {name for name, _ in _read_files()}


def schema_statements() -> list[str]:
    """Return every statement of the numbered files, in order."""
    return [statement for _, text in _read_files() for statement in split_statements(text)]


def split_statements(text: str) -> list[str]:
    without_comments = re.sub(r"^ *--.*$", "", text, flags=re.MULTILINE)
    return [part.strip() for part in without_comments.split(";") if part.strip()]


def with_durability(statement: str) -> str:
    """Add the settings that keep acknowledged rows through a crash to a table's DDL."""
    if "MergeTree" not in statement:
        return statement
    separator = ", " if re.search(r"\nSETTINGS ", statement) else "\nSETTINGS "
    return statement + separator + _DURABILITY_SETTINGS


def on_cluster(statement: str, cluster: str | None) -> str:
    """Rewrite a statement for a cluster: run on every node, with replicated table engines."""
    if cluster is None:
        return statement
    head = re.compile(
        r"^(CREATE (?:OR REPLACE )?(?:TABLE|MATERIALIZED VIEW|DICTIONARY)(?: IF NOT EXISTS)?"
        r"|DROP (?:TABLE|DICTIONARY) IF EXISTS|ALTER TABLE|TRUNCATE TABLE) (\w+)"
    )
    statement = head.sub(rf"\1 \2 ON CLUSTER '{cluster}'", statement, count=1)
    return re.sub(r"ENGINE = (\w*MergeTree)\b", r"ENGINE = Replicated\1", statement)
