"""Walking the OpenAPI document."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

METHODS = {"get", "put", "post", "delete", "patch"}


@dataclass(frozen=True)
class Operation:
    """One method of one path, with the document that its references point into."""

    method: str
    path: str
    spec: dict[str, Any]
    document: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_guarded(self) -> bool:
        return "security" in self.spec

    @property
    def key_scopes(self) -> set[str]:
        """Return the scopes of which a key needs one; none if only a user may call."""
        return set(self.spec.get("x-key-scopes", []))

    @property
    def role(self) -> str | None:
        """Return the role that a person needs in the workspace; none for an account's own."""
        role: str | None = self.spec.get("x-workspace-role")
        return role

    @property
    def path_parameters(self) -> list[dict[str, Any]]:
        return [p for p in self.spec.get("parameters", []) if p["in"] == "path"]

    def query(self) -> dict[str, str]:
        """Return the required query parameters, with examples."""
        required = [
            p for p in self.spec.get("parameters", []) if p["in"] == "query" and p["required"]
        ]
        return {p["name"]: "1" if p["schema"].get("type") == "number" else "x" for p in required}

    def success(self) -> tuple[int, dict[str, Any]]:
        """Return the status and the specification of the successful response, or redirect."""
        [(status, answer)] = [
            (int(status), answer)
            for status, answer in self.spec["responses"].items()
            if status.startswith(("2", "3"))
        ]
        return status, answer

    def resolve(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            name = schema["$ref"].removeprefix("#/components/schemas/")
            schema = self.document["components"]["schemas"][name]
        return schema

    def address(self, **ids: str) -> str:
        """Return the path with the given ids, or unknown ones, in place of its parameters."""
        path = self.path
        for parameter in self.path_parameters:
            made_up = "0" * 31 + "1" if parameter["name"] == "traceId" else "0" * 16
            path = path.replace("{" + parameter["name"] + "}", ids.get(parameter["name"], made_up))
        return path

    def body(self) -> Any:
        """Return the smallest valid body, or None if there is none."""
        content = self.spec.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        return None if schema is None else self.example(schema)

    def example(self, schema: dict[str, Any]) -> Any:  # noqa: PLR0911 -- one for each kind
        schema = self.resolve(schema)
        for union in ("anyOf", "oneOf", "allOf"):
            if union in schema:
                return self.example(schema[union][0])
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "object":
                properties = schema.get("properties", {})
                wanted = schema.get("required", [])
                return {name: self.example(properties[name]) for name in wanted}
            case "array":
                return [self.example(schema["items"])] * schema.get("minItems", 0)
            case "string":
                return _text(schema)
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return True
        return None

    def unbounded_lists(self) -> Iterator[str]:
        """Yield the lists in parameters and in the body that may have any number of items."""
        for parameter in self.spec.get("parameters", []):
            yield from self._unbounded(parameter["schema"], parameter["name"])
        for content in self.spec.get("requestBody", {}).get("content", {}).values():
            yield from self._unbounded(content.get("schema", {}), "body")

    def _unbounded(self, schema: dict[str, Any], path: str) -> Iterator[str]:
        schema = self.resolve(schema)
        if schema.get("type") == "array":
            if "maxItems" not in schema:
                yield path
            yield from self._unbounded(schema["items"], f"{path}[]")
        for name, inner in schema.get("properties", {}).items():
            yield from self._unbounded(inner, f"{path}.{name}")
        for union in ("anyOf", "oneOf", "allOf"):
            for inner in schema.get(union, []):
                yield from self._unbounded(inner, path)


def _text(schema: dict[str, Any]) -> str:
    formats = {"email": "somebody@example.com", "date-time": "2099-01-01T00:00:00Z"}
    return formats.get(schema.get("format", "")) or "x" * int(schema.get("minLength", 1))


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, spec in methods.items():
            if method in METHODS:
                yield Operation(method.upper(), path, spec, document)
