"""The rule for commit subjects that `make check` enforces."""

import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / ".ci" / "commits"


@pytest.fixture(scope="module")
def commits() -> ModuleType:
    spec = spec_from_loader("commits", SourceFileLoader("commits", str(SCRIPT)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "subject",
    [
        "journal: test an fsync failure after a full write",
        "api, docs: rename a route",
        "storage/catalog: add an index",
        "a: " + "b" * 69,
    ],
)
def test_an_area_and_a_short_lower_case_subject_are_accepted(
    commits: ModuleType, subject: str
) -> None:
    assert commits.is_valid(subject)


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "fix things",
        "journal: Test an fsync failure",
        "Journal: test an fsync failure",
        "journal:test an fsync failure",
        "journal: ",
        "a: " + "b" * 70,
    ],
)
def test_other_subjects_are_rejected(commits: ModuleType, subject: str) -> None:
    assert not commits.is_valid(subject)


def test_only_invalid_commits_are_listed(commits: ModuleType) -> None:
    log = "1234567 docs: explain retention\n89abcde Explain retention\n"
    assert commits.find_invalid(log) == ["89abcde Explain retention"]


def test_without_history_nothing_is_checked(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(SCRIPT)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0
    assert "not checked" in ran.stdout
