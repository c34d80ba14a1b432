"""Writes the tables of settings and routes into the docs, from the code that they describe.

`make docs` writes them; with `--check` it only says whether they are up to date.
"""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from spanwise.api.rate_limits import tier_of
from spanwise.api.services import Services
from spanwise.app import create_app
from spanwise.settings import ENV_PREFIX, Settings, load_settings, show_setting

DOCS = Path(__file__).parent
METHODS = ("get", "post", "put", "delete")


def settings_table() -> str:
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.default_factory else show_setting(field.default)
        shown = f"`{default.lower() if isinstance(field.default, bool) else default}`"
        meaning = (field.description or "").replace("|", "\\|")
        rows.append(f"| `{ENV_PREFIX}{name.upper()}` | {shown if default else ''} | {meaning} |")
    return "\n".join(rows)


def routes_table() -> str:
    rows = ["| route | what it does | caller | tier |", "|---|---|---|---|"]
    services = cast("Services", SimpleNamespace(settings=load_settings()))
    for path, operations in create_app(services).openapi()["paths"].items():
        rows += [_route(m, path, operations[m]) for m in METHODS if m in operations]
    return "\n".join(rows)


def _route(method: str, path: str, operation: dict[str, Any]) -> str:
    what = operation.get("description", operation["summary"]).split("\n")[0].replace("|", "\\|")
    shown = path.removeprefix("/api")
    return f"| `{method.upper()} {shown}` | {what} | {_caller(path, operation)} | {_tier(path)} |"


def _caller(path: str, operation: dict[str, Any]) -> str:
    if "security" not in operation:
        return "anyone"
    if path.startswith("/api/admin/"):
        return "admin"
    scopes = operation["x-key-scopes"]
    return f"person or key ({', '.join(scopes)})" if scopes else "person"


def _tier(path: str) -> str:
    tier = tier_of(path)
    return "not limited" if tier is None else str(tier)


TABLES = {"settings.md": ("settings", settings_table), "api.md": ("routes", routes_table)}


def main() -> None:
    stale = []
    for name, (mark, render) in TABLES.items():
        path = DOCS / name
        text = path.read_text()
        before, start, rest = text.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- end of {mark} -->")
        if not (start and end):
            sys.exit(f"{path} has no place marked for {mark}")
        written = f"{before}{start}{render()}\n{end}{after}"
        if written != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(written)
    if stale and "--check" in sys.argv:
        sys.exit(f"not up to date: {', '.join(stale)}; run 'make docs'")


if __name__ == "__main__":
    main()
