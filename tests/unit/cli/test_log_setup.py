"""Logs: one line per event, no secrets in tracebacks."""

import json
import logging
import sys
from io import StringIO
from pathlib import Path

import pytest
import structlog

from spanwise.cli.log_setup import configure_logs
from spanwise.settings import load_settings


def crash() -> None:
    password = "hunter2 horse"
    try:
        raise ValueError(f"a text of {len(password)}")
    except ValueError:
        structlog.get_logger().exception("request_crashed")


def test_json_is_one_object_per_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(load_settings(data_dir=tmp_path, log_format="auto"))
    structlog.contextvars.bind_contextvars(request_id="req_1")
    structlog.get_logger().info("listening", port=1)
    logging.getLogger("some_package").warning("careful")
    crash()
    structlog.contextvars.clear_contextvars()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["listening", "careful", "request_crashed"]
    assert [line["level"] for line in lines] == ["info", "warning", "error"]
    assert {line["request_id"] for line in lines} == {"req_1"}
    assert "ValueError: a text of 13" in lines[2]["exception"]


def test_a_line_is_one_write_so_threads_do_not_interleave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[str] = []

    class Stream(StringIO):
        def write(self, text: str) -> int:
            writes.append(text)
            return len(text)

    monkeypatch.setattr(sys, "stderr", Stream())
    configure_logs(load_settings(data_dir=tmp_path, log_format="json"))
    structlog.get_logger().info("ours")
    logging.getLogger("some_package").warning("theirs")
    assert [json.loads(text)["event"] for text in writes] == ["ours", "theirs"]
    assert all(text.endswith("\n") for text in writes)


def test_a_line_is_written_whatever_it_contains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(load_settings(data_dir=tmp_path, log_format="json"))
    structlog.get_logger().info("odd", half="\ud800", large=2**80, keys={1: tmp_path})
    line = json.loads(capsys.readouterr().err)
    assert (line["half"], line["large"]) == ("\ud800", 2**80)
    assert str(tmp_path) in line["keys"]["1"]


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_traceback_shows_no_local_variables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], log_format: str
) -> None:
    configure_logs(load_settings(data_dir=tmp_path, log_format=log_format))
    crash()
    logged = capsys.readouterr().err
    assert "ValueError" in logged
    assert "hunter2" not in logged.replace('password = "hunter2 horse"', "")


def test_lines_below_the_level_are_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(load_settings(data_dir=tmp_path, log_level="warning"))
    structlog.get_logger().info("request")
    structlog.get_logger().warning("redis_unavailable")
    logged = capsys.readouterr().err
    assert "redis_unavailable" in logged
    assert '"request"' not in logged
