"""Every setting is available as a flag."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from spanwise.cli.flags import new_command, with_settings
from spanwise.settings import Settings


def run(*arguments: str) -> tuple[str, list[Settings]]:
    seen: list[Settings] = []
    app = new_command()

    @app.command()
    @with_settings
    def show(settings: Settings) -> None:
        """Show."""
        seen.append(settings)

    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.output, seen


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_setting_has_a_flag_with_its_description() -> None:
    output, _ = run("--help")
    words = " ".join(output.split())
    for name, field in Settings.model_fields.items():
        assert f"--{name.replace('_', '-')} " in words
        assert " ".join(str(field.description).split()) in words


def test_flags_of_each_kind_reach_the_settings() -> None:
    _, [settings] = run(
        "--port=9", "--jwt-hours=1.5", "--require-verified-email", "--no-open-registration"
    )
    assert (settings.port, settings.jwt_hours) == (9, 1.5)
    assert settings.require_verified_email
    assert not settings.open_registration


def test_defaults_apply_without_flags() -> None:
    _, [settings] = run()
    assert settings.port == 8787
    assert settings.open_registration


def test_a_command_keeps_its_help() -> None:
    assert "Show." in run("--help")[0]
    assert isinstance(new_command(), typer.Typer)
