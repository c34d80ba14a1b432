"""Generates the tables in the docs and the OpenAPI document from the code.

`make docs` writes them; with `--check` it only reports whether they are up to date.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from spanwise.api.http.paths import NAMED_EXPORT_PATHS
from spanwise.api.http.rate_limits import tier_of
from spanwise.api.routes.telemetry.vendor_apis import ENDPOINTS
from spanwise.api.services import Services
from spanwise.ingest.otlp.coding_agents import CALLS
from spanwise.model.measures import MEASURES
from spanwise.model.telemetry.attribute_values import ERROR_RULES, HOSTS, KINDS, PROVIDERS
from spanwise.model.telemetry.conventions import (
    FIELDS,
    OWN_PREFIX,
    SPLIT_CONTENT_PREFIXES,
    ConditionalAttribute,
    JsonMember,
    Source,
)
from spanwise.settings import ENV_PREFIX, Settings, load_settings, show_setting
from spanwise.wiring.http import create_app

DOCS = Path(__file__).parent
# The dashboard's types are generated from this file.
OPENAPI = DOCS.parent / "web" / "openapi.json"
# The dashboard takes names and units of measures from this file.
WEB_MEASURES = DOCS.parent / "web" / "src" / "lib" / "measures.json"
METHODS = ("get", "post", "put", "delete")


def settings_table() -> str:
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.default_factory else show_setting(field.default)
        shown = f"`{default.lower() if isinstance(field.default, bool) else default}`"
        meaning = (field.description or "").replace("|", "\\|")
        rows.append(f"| `{ENV_PREFIX}{name.upper()}` | {shown if default else ''} | {meaning} |")
    return "\n".join(rows)


def openapi_document() -> dict[str, Any]:
    alerting = SimpleNamespace(alert_jobs=None)
    services = cast("Services", SimpleNamespace(settings=load_settings(), alerting=alerting))
    return create_app(services).openapi()


def routes_table() -> str:
    rows = ["| route | what it does | caller | tier |", "|---|---|---|---|"]
    for path, operations in openapi_document()["paths"].items():
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
    person = operation.get("x-workspace-role", "person")
    scopes = operation["x-key-scopes"]
    return f"{person}, or key ({', '.join(scopes)})" if scopes else person


def _tier(path: str) -> str:
    tier = tier_of(path)
    return "not limited" if tier is None else str(tier)


def otlp_paths() -> str:
    rows = ["| path | takes |", "|---|---|"]
    rows += [f"| `{path}` | {kind.name.lower()} |" for path, kind in NAMED_EXPORT_PATHS.items()]
    return "\n".join(rows)


def doors_table() -> str:
    rows = ["| product | request |", "|---|---|"]
    rows += [f"| {product} | `{method} {path}` |" for product, method, path, _ in ENDPOINTS]
    return "\n".join(rows)


def fields_table() -> str:
    rows = ["| field | meaning | sources; the first one with a value wins |", "|---|---|---|"]
    for field in FIELDS:
        shown = [text for source in field.sources if (text := _source(source))]
        if field.name in SPLIT_CONTENT_PREFIXES:
            shown += [f"`{prefix}N.*`" for prefix in SPLIT_CONTENT_PREFIXES[field.name]]
        rows.append(f"| `{field.name}` | {field.meaning} | {' · '.join(shown)} |")
    return "\n".join(rows)


# Prefixes of attributes that ingest writes itself; not documented.
_OWN = tuple(f"{OWN_PREFIX}{name}." for name in ("event", "exception", "flag", "pieces"))


def _source(source: Source) -> str:
    match source:
        case JsonMember():
            plus = "".join(f" + `{name}`" for name in source.plus)
            return f"`{source.document}` (JSON): `{source.path}`{plus}"
        case ConditionalAttribute():
            return f"`{source.source_attribute}` where `{source.other}` is `{source.value}`"
        case _:
            return "" if source.startswith(_OWN) else f"`{source}`"


def _aliases_table(table: dict[str, tuple[str, ...]], head: str) -> str:
    rows = [f"| {head} | values |", "|---|---|"]
    rows += [
        f"| `{name}` | {', '.join(f'`{w}`' for w in words)} |" for name, words in table.items()
    ]
    return "\n".join(rows)


def kinds_table() -> str:
    return _aliases_table(KINDS, "kind")


def providers_table() -> str:
    names = {name: (*PROVIDERS.get(name, ()), *HOSTS.get(name, ())) for name in PROVIDERS | HOSTS}
    return _aliases_table(names, "provider")


def errors_table() -> str:
    rows = ["| type | pattern | examples |", "|---|---|---|"]
    for rule in ERROR_RULES:
        pattern = rule.pattern.replace("|", "\\|")
        examples = ", ".join(f"`{example}`" for example in rule.examples)
        rows.append(f"| `{rule.error_type}` | `{pattern}` | {examples} |")
    return "\n".join(rows)


def calls_table() -> str:
    rows = ["| log record | becomes |", "|---|---|"]
    for name, call in CALLS.items():
        article = "a" if call.kind == "tool" else "an"
        what = f"a failed `{call.kind}` span" if call.is_error else f"{article} `{call.kind}` span"
        conditions = [
            f"`{attribute}` {f'is `{value}`' if value else 'is present'}"
            for attribute, value in call.required
        ]
        what += f", if {' and '.join(conditions)}" if conditions else ""
        rows.append(f"| `{name}` | {what} |")
    return "\n".join(rows)


def benchmark_tables() -> str:
    # `bench` is not installed; it is imported from the folder beside this one.
    sys.path.insert(0, str(DOCS.parent))
    from bench.report import render_baselines  # noqa: PLC0415

    return render_baselines()


def benchmark_headline() -> str:
    sys.path.insert(0, str(DOCS.parent))
    from bench.headline import render_headline  # noqa: PLC0415

    return render_headline()


def clients_table() -> str:
    # The goldens are tests, and imported from their folder.
    sys.path.insert(0, str(DOCS.parent / "tests"))
    from golden.client_table import CLIENTS, PROPERTIES, describe_client  # noqa: PLC0415

    head = ("client", "language", "instrumentation", *PROPERTIES, "recorded versions")
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for client in CLIENTS:
        cells = describe_client(client).values()
        named = (client.name, client.language, client.instrumentation)
        rows.append(f"| {' | '.join((*named, *cells, client.packages))} |")
    return "\n".join(rows)


def measures_table() -> str:
    rows = ["| measure | in the dashboard | unit | meaning |", "|---|---|---|---|"]
    rows += [
        f"| `{one.name}` | {one.label} | {one.unit} | {one.meaning} |" for one in MEASURES.values()
    ]
    return "\n".join(rows)


def web_measures() -> dict[str, dict[str, Any]]:
    return {
        one.name: {
            "label": one.label,
            "unit": one.unit,
            "meaning": one.goal,
            "isAdditive": one.is_additive,
            "isOfSpans": one.of_spans,
            "isOfTraces": one.of_traces,
        }
        for one in MEASURES.values()
    }


TABLES = (
    ("clients.md", "clients", clients_table),
    ("benchmarks.md", "headline", benchmark_headline),
    ("benchmark-tables.md", "baselines", benchmark_tables),
    ("settings.md", "settings", settings_table),
    ("queries.md", "measures", measures_table),
    ("api.md", "routes", routes_table),
    ("conventions.md", "paths", otlp_paths),
    ("conventions.md", "doors", doors_table),
    ("conventions.md", "fields", fields_table),
    ("conventions.md", "kinds", kinds_table),
    ("conventions.md", "providers", providers_table),
    ("conventions.md", "errors", errors_table),
    ("conventions.md", "calls", calls_table),
)


def fill_in(text: str, mark: str, table: str) -> str:
    before, start, rest = text.partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition(f"<!-- end of {mark} -->")
    if not (start and end):
        sys.exit(f"the markers of the table {mark} are missing")
    return f"{before}{start}{table}\n{end}{after}"


def main() -> None:
    files = {DOCS / name: (DOCS / name).read_text() for name, _, _ in TABLES}
    for name, mark, render in TABLES:
        files[DOCS / name] = fill_in(files[DOCS / name], mark, render())
    files[WEB_MEASURES] = json.dumps(web_measures(), indent=2) + "\n"
    files[OPENAPI] = json.dumps(openapi_document(), indent=2, ensure_ascii=False) + "\n"
    stale = []
    for path, written in files.items():
        if not path.exists() or path.read_text() != written:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(written)
    if stale and "--check" in sys.argv:
        sys.exit(f"not up to date: {', '.join(stale)}; run 'make docs'")


if __name__ == "__main__":
    main()
