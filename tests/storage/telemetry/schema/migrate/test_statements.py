"""The schema on a cluster, and repeated migrations."""

import re
from typing import Any

import pytest

from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.prices.price_dictionary import dictionary_ddl
from spanwise.storage.telemetry.schema import apply_schema
from spanwise.storage.telemetry.schema.landing_tables import LANDING_TABLES
from spanwise.storage.telemetry.schema.migrate import (
    on_cluster,
    schema_statements,
    split_statements,
    with_durability,
)

MERGE_TREE = re.compile(r"ENGINE = (\w*MergeTree)")


def test_every_table_that_stores_rows_is_replicated_on_a_cluster_and_durable() -> None:
    tables = [s for s in schema_statements() if s.startswith("CREATE TABLE")]
    assert len(tables) >= 7
    for statement in tables:
        written = on_cluster(with_durability(statement), "east")
        assert re.match(r"CREATE TABLE IF NOT EXISTS \w+ ON CLUSTER 'east'\s", written), written
        engines = MERGE_TREE.findall(written)
        assert engines, written
        assert all(engine.startswith("Replicated") for engine in engines)
        assert written.count("fsync_after_insert = 1") == 1
        assert written.count("SETTINGS") == 1


@pytest.mark.parametrize(
    ("statement", "written"),
    [
        (
            "CREATE TABLE IF NOT EXISTS t (a Int8) ENGINE = ReplacingMergeTree(b) ORDER BY a",
            "CREATE TABLE IF NOT EXISTS t ON CLUSTER 'east' (a Int8) "
            "ENGINE = ReplicatedReplacingMergeTree(b) ORDER BY a",
        ),
        (
            "CREATE TABLE IF NOT EXISTS t (a String) ENGINE = Null",
            "CREATE TABLE IF NOT EXISTS t ON CLUSTER 'east' (a String) ENGINE = Null",
        ),
        (
            "CREATE MATERIALIZED VIEW IF NOT EXISTS v TO t AS SELECT 1",
            "CREATE MATERIALIZED VIEW IF NOT EXISTS v ON CLUSTER 'east' TO t AS SELECT 1",
        ),
        (
            "ALTER TABLE t ADD COLUMN b String",
            "ALTER TABLE t ON CLUSTER 'east' ADD COLUMN b String",
        ),
    ],
)
def test_a_cluster_statement_runs_on_all_nodes(statement: str, written: str) -> None:
    assert on_cluster(statement, "east") == written
    assert on_cluster(statement, None) == statement


def test_the_dictionary_uses_the_credentials_of_the_url() -> None:
    address = EngineAddress(server_url="clickhouse://ann:p%27w@host/my_db")
    given = address.credentials
    written = on_cluster(dictionary_ddl(given.user, given.password, given.database), "east")
    assert written.startswith("CREATE DICTIONARY IF NOT EXISTS price_list ON CLUSTER 'east'")
    assert r"USER 'ann' PASSWORD 'p\'w' DB 'my_db' QUERY 'SELECT workspace, provider, " in written
    assert "FROM `my_db`.prices FINAL" in written


@pytest.mark.both_engines
def test_applying_the_schema_again_changes_nothing(engine: Engine) -> None:
    sql = "SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase()"
    with engine.client() as client:
        apply_schema(client, engine.address)
        before = query_rows(client, sql, {})
        apply_schema(client, engine.address)
        assert query_rows(client, sql, {}) == before
        versions = query_rows(
            client, "SELECT name, count() AS n FROM schema_versions GROUP BY name", {}
        )
    assert versions
    assert {row["n"] for row in versions} == {1}


def test_a_missing_view_is_created_and_existing_ones_are_not_analyzed_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = f"{LANDING_TABLES['logs'].name}_view"
    with engine.client() as client:
        apply_schema(client, engine.address)
        client.command(f"DROP VIEW {view}")
        sent: list[str] = []
        command = client.command

        def record(statement: str, **options: Any) -> object:
            sent.append(statement)
            return command(statement, **options)

        monkeypatch.setattr(client, "command", record)
        apply_schema(client, engine.address)
        [created] = [statement for statement in sent if "MATERIALIZED VIEW" in statement]
        assert view in created
        [row] = query_rows(client, f"EXISTS TABLE {view}", {})
        assert row["result"] == 1


def test_landing_tables_of_other_versions_are_dropped_with_their_views(engine: Engine) -> None:
    target = LANDING_TABLES["logs"]
    names = [f"landing_logs_{number:08x}" for number in (1, 2)]
    with engine.client() as client:
        apply_schema(client, engine.address)
        for name in names:
            client.command(f"CREATE TABLE {name} ({target.columns}) ENGINE = Null")
            client.command(f"CREATE MATERIALIZED VIEW {name}_view TO logs AS {target.select(name)}")
        apply_schema(client, engine.address)
        sql = """SELECT name FROM system.tables
        WHERE database = currentDatabase() AND name LIKE 'landing_logs_%' ORDER BY name"""
        left = query_rows(client, sql, {})
        # Replicas of the version before this one may still write to a server.
        kept = [] if engine.address.folder else names[1:]
        expected = [f"{name}{end}" for name in (target.name, *kept) for end in ("", "_view")]
        assert [row["name"] for row in left] == sorted(expected)
        for name in kept:
            client.command(f"DROP TABLE {name}")
            client.command(f"DROP TABLE {name}_view")


def test_comments_and_semicolons_split_as_statements() -> None:
    assert split_statements("-- one; two\nSELECT 1;\n\n  -- a; b\nSELECT 2;\n") == [
        "SELECT 1",
        "SELECT 2",
    ]
