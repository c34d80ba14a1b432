"""Every path, code name, setting, make target and command that the docs mention exists."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from spanwise.cli import app
from spanwise.settings import ENV_PREFIX, Settings

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/decisions/*.md")),
]
# A path in the docs may be relative to any of these.
BASES = [
    ROOT / name
    for name in (".", "docs", "docs/decisions", "src/spanwise", "tests", "web", "web/src")
]
SOURCES = ("src", "bench", "web/src")
# Names of other projects, and examples, that the docs mention.
FOREIGN = {
    *("FORWARDED_ALLOW_IPS", "INVALID_ARGUMENT", "PAYLOAD_TOO_LARGE", "SharedMergeTree"),
    *("default_replica_path", "exp_a", "exp_b", "insert_quorum", "HTTPS_PROXY", "SSL_CERT_FILE"),
    "HttpOnly",
}

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_GENERATED = re.compile(r"<!-- (\w+) -->.*?<!-- end of \1 -->", re.DOTALL)
_SPAN = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")
_FILE = re.compile(r"(?<![\w/.{-])[\w<>*.-][\w<>*./-]*\.(?:py|sql|tsx?|md)\b(?!\.)")
_FOLDER = re.compile(r"(?<![\w/.$:{-])[\w.-]+/(?:[\w<>*.-]+/?)*")
# An entry of a folder tree: an indented line that starts with a folder.
_TREE_ENTRY = re.compile(r"^ +([\w.-]+)/(?: |$)", re.MULTILINE)
_CAMEL_CASE = re.compile(r"_?[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
_MEMBER = re.compile(r"(_?[A-Z]\w+)\.(\w+)(?:\(\))?")
_FUNCTION = re.compile(r"(\w+)\(\)")
_SNAKE_CASE = re.compile(r"_?[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_everything_that_a_page_mentions_exists(page: Path) -> None:
    assert list(find_missing(page.read_text())) == []


@pytest.mark.parametrize(
    "text",
    [
        "`src/spanwise/no_such_folder/`",
        "[here](docs/no_such_page.md)",
        "```\nmodel/no_such_module.py\n```",
        "```\nsrc/spanwise/\n  no_such_folder/  does nothing\n```",
        "`NoSuchClass`",
        "`Settings.no_such_member`",
        "`no_such_function()`",
        "`no_such_name`",
        "`SPANWISE_NO_SUCH_SETTING`",
        "```sh\nmake no-such-target\n```",
        "`spanwise nosuchcommand`",
        "`spanwise user nosuchcommand`",
    ],
)
def test_a_name_that_does_not_exist_is_found(text: str) -> None:
    assert len(list(find_missing(text))) == 1


def test_names_that_exist_are_not_reported() -> None:
    text = (
        "`storage/telemetry/schema/`, `src/spanwise/storage/telemetry/<package>/`, `settings.py`, "
        "[decisions](docs/decisions), `Settings`, `Settings.port`, `load_settings()`, "
        "`trace_rollup`, `SPANWISE_PORT`, `make test`, `spanwise user add`"
    )
    assert list(find_missing(text)) == []


def find_missing(text: str) -> Iterator[str]:
    text = _GENERATED.sub("", text)
    fences = _FENCE.findall(text)
    prose = _FENCE.sub("", text)
    spans = [" ".join(span.split()) for span in _SPAN.findall(prose)]
    code = "\n".join([*spans, *fences])
    links = [link for link in _LINK.findall(prose) if "://" not in link]
    paths = {*links, *_FILE.findall(code), *filter(_is_in_known_folder, _FOLDER.findall(code))}
    yield from (f"path {path}" for path in sorted(paths) if not _path_exists(path))
    entries = {entry for fence in fences for entry in _TREE_ENTRY.findall(fence)}
    yield from (f"folder {entry}" for entry in sorted(entries - _folder_names()))
    yield from (f"name {span}" for span in sorted({*spans}) if not _name_exists(span))
    yield from _missing_settings(text)
    yield from _missing_targets(code)
    yield from _missing_commands(code)


def _is_in_known_folder(path: str) -> bool:
    return path.partition("/")[0] in _known_folders()


@cache
def _known_folders() -> frozenset[str]:
    return frozenset(path.name for base in BASES for path in base.iterdir() if path.is_dir())


@cache
def _path_exists(path: str) -> bool:
    pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")
    if "/" in pattern or pattern.startswith("*"):
        return any(next(base.glob(pattern), None) for base in BASES)
    return pattern in _file_names() or any((base / pattern).exists() for base in BASES)


def _name_exists(span: str) -> bool:
    if span in FOREIGN or span.startswith(ENV_PREFIX):
        return True
    if _CAMEL_CASE.fullmatch(span):
        return span in _definitions()
    if member := _MEMBER.fullmatch(span):
        return any(
            re.search(rf"\b{member[2]}\b", text) for text in _definitions().get(member[1], [])
        )
    if function := _FUNCTION.fullmatch(span):
        return function[1] in _functions()
    if _SNAKE_CASE.fullmatch(span):
        # The Prometheus client adds the suffix of counters itself.
        return span in _words() or span.removesuffix("_total") in _words()
    return True


def _missing_settings(text: str) -> Iterator[str]:
    known = {f"{ENV_PREFIX}{name.upper()}" for name in Settings.model_fields}
    for name in sorted({*re.findall(rf"\b{ENV_PREFIX}[A-Z0-9_]*[A-Z0-9]", text)} - known):
        yield f"setting {name}"


def _missing_targets(code: str) -> Iterator[str]:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    mentioned = re.findall(r"(?:^|[= ])make ([a-z][a-z-]*)", code, re.MULTILINE)
    yield from (f"make {target}" for target in sorted({*mentioned} - {*targets}))


def _missing_commands(code: str) -> Iterator[str]:
    root = _command_line()
    calls = re.findall(r"(?:^| )spanwise ([a-z]+)(?: ([a-z]+)\b)?", code, re.MULTILINE)
    for name, argument in calls:
        command = root.get_command(None, name) if name in root.list_commands(None) else None
        names = getattr(command, "commands", None)
        if command is None or (argument and names is not None and argument not in names):
            yield f"spanwise {name} {argument}".strip()


@cache
def _command_line() -> Any:
    return typer.main.get_command(app)


@cache
def _source_files() -> list[Path]:
    found = [ROOT / "Makefile", ROOT / "tests" / "conftest.py"]
    for folder in SOURCES:
        found += [
            path
            for path in (ROOT / folder).rglob("*")
            if path.suffix in {".py", ".sql", ".ts", ".tsx"} and "web_dist" not in path.parts
        ]
    return found


@cache
def _source_text() -> str:
    return "\n".join(path.read_text() for path in _source_files())


@cache
def _functions() -> frozenset[str]:
    return frozenset(re.findall(r"\b(?:def|function|const) (\w+)", _source_text()))


@cache
def _words() -> frozenset[str]:
    return frozenset(re.findall(r"\w+", _source_text()))


@cache
def _file_names() -> frozenset[str]:
    return frozenset(path.name for path in _source_files())


@cache
def _folder_names() -> frozenset[str]:
    parents = (parent for path in _source_files() for parent in path.parents)
    return frozenset({*(parent.name for parent in parents), *(base.name for base in BASES)})


@cache
def _definitions() -> dict[str, list[str]]:
    """The text of the files that define each class, type or component."""
    found: dict[str, list[str]] = {}
    pattern = re.compile(
        r"^(?:export )?(?:default )?(?:class|function|interface|type|const) (\w+)"
        r"|^(_?[A-Z]\w+)(?:: \w+)? = ",
        re.MULTILINE,
    )
    for path in _source_files():
        text = path.read_text()
        for names in pattern.findall(text):
            found.setdefault(next(filter(None, names)), []).append(text)
    return found
