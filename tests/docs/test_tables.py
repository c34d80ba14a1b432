"""The docs match the code: settings, routes, links."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from spanwise.settings import Settings
from support.openapi import operations
from support.service import Service

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_the_generated_tables_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


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


async def test_every_route_is_in_the_docs(service: Service) -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    document = (await service.call("GET", "/openapi.json")).json()
    missing = [
        str(operation)
        for operation in operations(document)
        if f"| `{operation.method} {operation.path.removeprefix('/api')}` |" not in page
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    broken = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert broken == []


def test_every_decision_has_its_four_parts() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert len(decisions) >= 4
    for number, path in enumerate(decisions, 1):
        assert path.name.startswith(f"{number:04}-")
        headings = re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Alternatives"], path.name
