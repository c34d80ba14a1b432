"""Compares the imports in src with the dependencies that pyproject.toml declares."""

import ast
import os
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DECLARED: dict[str, Requirement] = {
    canonicalize_name(requirement.name): requirement
    for requirement in map(Requirement, PROJECT["dependencies"])
}
# Namespace packages are shared by several distributions.
NAMESPACES = {
    "google.protobuf": "protobuf",
    "google.rpc": "googleapis-common-protos",
    "opentelemetry.proto": "opentelemetry-proto",
}
# Loaded by another library, or only for their files; nothing in src imports them.
LOADED_INDIRECTLY = {"aiosqlite", "chdb", "fastapi-swagger", "psycopg"}
# Private parts of these are overridden.
EXACT = {"uvicorn", "httptools"}


def imported_modules(path: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules.add(node.module)
    return modules


def distributions_of(module: str, installed: dict[str, list[str]]) -> set[str]:
    """Return the distributions that provide a module; none for our own and the standard library."""
    top_level = module.partition(".")[0]
    if top_level == "spanwise" or top_level in sys.stdlib_module_names:
        return set()
    for prefix, name in NAMESPACES.items():
        if f"{module}.".startswith(f"{prefix}."):
            return {name}
    return {canonicalize_name(name) for name in installed.get(top_level, [module])}


@cache
def imported_distributions() -> dict[str, set[str]]:
    installed = {name: list(found) for name, found in packages_distributions().items()}
    modules = set().union(*map(imported_modules, SOURCES))
    return {m: found for m in sorted(modules) if (found := distributions_of(m, installed))}


def test_every_import_is_declared() -> None:
    undeclared = {
        module: names
        for module, names in imported_distributions().items()
        if not names & DECLARED.keys()
    }
    assert undeclared == {}


def test_every_declared_dependency_is_used() -> None:
    used = LOADED_INDIRECTLY.union(*imported_distributions().values())
    assert DECLARED.keys() - used == set()


def test_every_indirect_dependency_is_named_in_the_source() -> None:
    text = "\n".join(path.read_text() for path in SOURCES)
    words = {name: name.replace("-", "_") for name in LOADED_INDIRECTLY}
    assert [n for n, word in words.items() if not re.search(rf"\b{word}\b", text)] == []


def test_every_dependency_has_bounds() -> None:
    for name, requirement in DECLARED.items():
        operators = sorted(specifier.operator for specifier in requirement.specifier)
        assert operators == (["=="] if name in EXACT else ["<", ">="]), name


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="there is one worker")
@pytest.mark.xdist_group("canary")
def test_groups_of_tests_reach_the_scheduler(request: pytest.FixtureRequest) -> None:
    # pytest-xdist passes them on in the id. With a pytest that it does not know they are lost.
    assert request.node.nodeid.endswith("@canary")
