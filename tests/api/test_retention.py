"""`SPANWISE_RETENTION_DAYS`: expired telemetry is deleted at the next start and logged."""

from datetime import UTC, datetime
from pathlib import Path

from support.polling import until
from support.service import start_service
from support.spans import span


async def test_expired_telemetry_is_removed_and_audited(tmp_path: Path) -> None:
    async with start_service(tmp_path) as service:
        person = await service.sign_up()
        old = span(name="old", start=datetime(2012, 5, 5, tzinfo=UTC))
        await person.data("POST", "/spans", json={"spans": [old, span(name="new")]})
        assert len(await person.data("GET", "/spans/traces")) == 2
    # Ten years: tests share the engine, and no other test has data that old.
    async with start_service(tmp_path, retention_days=3650) as service:
        person = await service.log_in(person.email)

        async def is_audited() -> bool:
            entries = await person.data("GET", "/admin/audit?action=telemetry.expired")
            return any(entry["data"]["removedRows"].get("traces") for entry in entries)

        await until(is_audited)
        traces = await person.data("GET", "/spans/traces")
        assert [trace["name"] for trace in traces] == ["new"]
