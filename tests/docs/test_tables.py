"""The docs match the code: settings, routes, links."""

import json
import re
import sys
from pathlib import Path

import pytest

from spanwise.settings import Settings
from support.child_processes import run_process
from support.openapi import operations
from support.scripts import run_script

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_the_generated_tables_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    script = str(ROOT / "docs" / "generate.py")
    # A process of its own, which has the arguments of this one; it exits with what is out of date.
    monkeypatch.setattr(sys, "argv", [script, "--check"])
    assert run_process(run_script, script)


def test_every_setting_is_in_the_docs_with_its_default() -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    for name, field in Settings.model_fields.items():
        [row] = re.findall(
            rf"^\| `SPANWISE_{name.upper()}` \| (.*?) \| (.*) \|$", page, re.MULTILINE
        )
        default, meaning = row
        assert meaning == field.description
        if isinstance(field.default, bool):
            assert default == f"`{str(field.default).lower()}`"
        elif isinstance(field.default, str | int | float | Path):
            assert default == f"`{field.default}`"
        elif isinstance(field.default, tuple) and field.default:
            assert default == f"`{', '.join(field.default)}`"
        else:
            assert default == ""


def test_every_route_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    # That it is the current one, the test of the generated tables checks.
    document = json.loads((ROOT / "web" / "openapi.json").read_text())
    missing = [
        str(operation)
        for operation in operations(document)
        if f"| `{operation.method} {operation.path.removeprefix('/api')}` |" not in page
    ]
    assert missing == []


def test_every_link_to_a_file_leads_somewhere() -> None:
    broken = [
        (str(page.relative_to(ROOT)), target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_decision_has_its_four_parts() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert len(decisions) >= 4
    for number, path in enumerate(decisions, 1):
        assert path.name.startswith(f"{number:04}-")
        headings = re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Alternatives"], path.name
