"""The telemetry schema: numbered, forward-only files, and the views that are made of code."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

from clickhouse_connect.driver.client import Client

from spanwise.model.errors import StartError
from spanwise.storage.telemetry.engine.engine import EngineAddress, query_rows
from spanwise.storage.telemetry.prices.prices import dictionary_ddl
from spanwise.storage.telemetry.spans.extraction import (
    LOGS_COLUMNS,
    METRICS_COLUMNS,
    SPANS_COLUMNS,
    logs_select,
    metrics_select,
    spans_select,
)

# What `2xx means stored` needs of the engine: parts reach the disk before the journal lets go.
_DURABLE = (
    "fsync_after_insert = 1, fsync_part_directory = 1, "
    "min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1, "
    "old_parts_lifetime = 480, ttl_only_drop_parts = 1"
)

_VERSIONS = """CREATE TABLE IF NOT EXISTS schema_versions (name String)
ENGINE = MergeTree() ORDER BY name"""

_BOUNDS = """CREATE MATERIALIZED VIEW IF NOT EXISTS trace_bounds_view TO trace_bounds AS
SELECT workspace, trace_id, min(hour) AS first_hour, max(hour) AS last_hour,
    min(version) AS first_version, max(version) AS last_version
FROM spans GROUP BY workspace, trace_id"""


def apply_schema(client: Client, address: EngineAddress) -> None:
    """Run the files that are missing, then put the views in place that this version needs.

    A file counts as done when all of it is: after a kill the next start runs it again from its
    beginning, so every statement must be safe to run twice. Replicas take turns, under
    `Catalog.migration_lock`, because a table that is truncated must not be filled already.
    """
    cluster = address.cluster
    if cluster is not None:
        _refuse_shards(client, cluster)
    client.command(on_cluster(with_durability(_VERSIONS), cluster))
    done = {row["name"] for row in query_rows(client, "SELECT name FROM schema_versions", {})}
    for name, text in _files():
        if name not in done:
            for statement in split_statements(text):
                client.command(on_cluster(with_durability(statement), cluster))
            client.command(
                "INSERT INTO schema_versions SELECT {name:String}", parameters={"name": name}
            )
    _create_views(client, address)


def _refuse_shards(client: Client, cluster: str) -> None:
    sql = "SELECT uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {name:String}"
    shards = query_rows(client, sql, {"name": cluster})[0]["shards"]
    if shards == 0:
        raise StartError(f"the ClickHouse server knows no cluster {cluster}")
    if shards > 1:
        raise StartError(
            f"the cluster {cluster} has {shards} shards; Spanwise needs one shard, "
            "with any number of replicas"
        )


@dataclass(frozen=True)
class Landing:
    """A table that holds nothing: what is inserted goes through its view into the target.

    Its name ends in a hash of the SQL, so that replicas of two versions each have their own, and
    none ever has to be replaced while rows come in: a landing table without its view loses them.
    """

    noun: str
    columns: str
    target: str
    select: Callable[[str], str]

    @cached_property
    def table(self) -> str:
        text = self.columns + self.select("")
        return f"landing_{self.noun}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"


LANDINGS = {
    noun: Landing(noun, columns, noun, select)
    for noun, columns, select in (
        ("spans", SPANS_COLUMNS, spans_select),
        ("logs", LOGS_COLUMNS, logs_select),
        ("metrics", METRICS_COLUMNS, metrics_select),
    )
}


def _create_views(client: Client, address: EngineAddress) -> None:
    cluster, login = address.cluster, address.login
    embedded = address.folder is not None
    dictionary = (
        dictionary_ddl() if embedded else dictionary_ddl(login.user, login.password, login.database)
    )
    client.command(on_cluster(dictionary, cluster))
    client.command(on_cluster(_BOUNDS, cluster))
    for landing in LANDINGS.values():
        table = landing.table
        for statement in (
            f"CREATE TABLE IF NOT EXISTS {table} ({landing.columns}) ENGINE = Null",
            f"CREATE MATERIALIZED VIEW IF NOT EXISTS {table}_view TO {landing.target} "
            f"AS {landing.select(table)}",
        ):
            client.command(on_cluster(statement, cluster))


def _files() -> list[tuple[str, str]]:
    folder = files(__package__)
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [(name, folder.joinpath(name).read_text()) for name in names]


def statements_of_files() -> list[str]:
    """Return every statement of the numbered files, in order."""
    return [statement for _, text in _files() for statement in split_statements(text)]


def split_statements(text: str) -> list[str]:
    without_comments = re.sub(r"^--.*$", "", text, flags=re.MULTILINE)
    return [part.strip() for part in without_comments.split(";") if part.strip()]


def with_durability(statement: str) -> str:
    """Give a table the settings that keep acknowledged rows through a crash."""
    if "MergeTree" not in statement:
        return statement
    joint = ", " if re.search(r"\nSETTINGS ", statement) else "\nSETTINGS "
    return statement + joint + _DURABLE


def on_cluster(statement: str, cluster: str | None) -> str:
    """Rewrite a statement for a cluster: on every node, and replicated where it stores rows."""
    if cluster is None:
        return statement
    head = re.compile(
        r"^(CREATE (?:OR REPLACE )?(?:TABLE|MATERIALIZED VIEW|DICTIONARY)(?: IF NOT EXISTS)?"
        r"|DROP (?:TABLE|DICTIONARY) IF EXISTS|ALTER TABLE|TRUNCATE TABLE) (\w+)"
    )
    statement = head.sub(rf"\1 \2 ON CLUSTER '{cluster}'", statement, count=1)
    return re.sub(r"ENGINE = (\w*MergeTree)\b", r"ENGINE = Replicated\1", statement)
