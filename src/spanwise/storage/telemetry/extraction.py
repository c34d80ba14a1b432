"""Makes the engine's SQL of the convention table: OTLP as it arrives, rows as they are kept.

Measured on 170 attribute names and 30 fields: looking every name up in a map costs 8.8 µs a span.
Here each attribute's key is turned once into a packed number, field and precedence (`transform`),
the numbers are sorted, and a field is the first number of its range: 1.7 µs.
"""

from collections.abc import Iterable, Mapping, Sequence

from spanwise.model.conventions import (
    COST_DOCUMENTS,
    ERROR_RULES,
    FIELDS,
    INDEXED_INPUT,
    INDEXED_OUTPUT,
    KINDS,
    PROVIDERS,
    USAGE_DOCUMENTS,
    Inside,
)
from spanwise.storage.telemetry.prices import cost_at, price_of

# Arrays, maps and bytes are declared as bytes: the same on the wire, but the engine then neither
# recurses nor plans for it. They are kept raw behind a marker and decoded when read.
PROTO_SCHEMA = """
syntax = "proto3";
message Any { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3;
 double double_value = 4; bytes array_value = 5; bytes kvlist_value = 6; bytes bytes_value = 7; } }
message KV { string key = 1; Any value = 2; }
message Status { string message = 2; int32 code = 3; }
message Span { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3;
 bytes parent_span_id = 4; string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7;
 fixed64 end_time_unix_nano = 8; repeated KV attributes = 9; repeated bytes events = 11;
 repeated bytes links = 13; Status status = 15; fixed32 flags = 16; }
message LogRecord { fixed64 time_unix_nano = 1; int32 severity_number = 2; string severity_text = 3;
 Any body = 5; repeated KV attributes = 6; bytes trace_id = 9; bytes span_id = 10;
 fixed64 observed_time_unix_nano = 11; string event_name = 12; }
message Spans { repeated Span spans = 2; string workspace = 100; uint64 version = 101;
 string service = 102; string environment = 103; string resource = 104; }
message Logs { repeated LogRecord log_records = 2; string workspace = 100; uint64 version = 101;
 string service = 102; string environment = 103; string resource = 104; }
message Metrics { repeated bytes metrics = 2; string workspace = 100; uint64 version = 101;
 string service = 102; string environment = 103; string resource = 104; }
"""

_ANY = (
    "Tuple(string_value String, bool_value Nullable(String), int_value Nullable(String), "
    "double_value Nullable(String), array_value String, kvlist_value String, bytes_value String)"
)
_PAIRS = f"Array(Tuple(key String, value {_ANY}))"
_SUFFIX = "workspace String, version UInt64, service String, environment String, resource String"

# The columns of the landing tables.
SPANS_COLUMNS = (
    "spans Array(Tuple(trace_id String, span_id String, parent_span_id String, name String, "
    "kind Int32, start_time_unix_nano UInt64, end_time_unix_nano UInt64, "
    f"attributes {_PAIRS}, events Array(String), links Array(String), "
    f"status Tuple(message String, code Int32), flags UInt32)), {_SUFFIX}"
)
LOGS_COLUMNS = (
    "log_records Array(Tuple(time_unix_nano UInt64, observed_time_unix_nano UInt64, "
    f"severity_number Int32, severity_text String, body {_ANY}, attributes {_PAIRS}, "
    f"trace_id String, span_id String, event_name String)), {_SUFFIX}"
)
METRICS_COLUMNS = f"metrics Array(String), {_SUFFIX}"

PREVIEW_CHARACTERS = 200

_EARLIEST_NANO = 946_684_800_000_000_000
_LATEST_NANO = 4_102_444_800_000_000_000
_MOMENT = "toDateTime(intDiv(start_nano, 1000000000), 'UTC')"
_PRECEDENCE_BITS = 6
_POSITION_BITS = 20


class _Picks:
    """Numbers the fields and gives each attribute name its packed rank."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self._numbers = {name: number for number, name in enumerate(fields, 1)}
        self.ranks: dict[str, int] = {}
        for name, attributes in fields.items():
            for precedence, attribute in enumerate(attributes):
                rank = self._numbers[name] << _PRECEDENCE_BITS | precedence
                if self.ranks.setdefault(attribute, rank) != rank:
                    raise ValueError(f"{attribute} serves two fields; it can mean one thing only")

    def text(self, field: str) -> str:
        """SQL for the field's text, empty when no attribute has it."""
        return f"picked[indexOf(fields, {self._numbers[field]})]"

    def position(self, field: str) -> str:
        """SQL for the position of the field's attribute, 0 when there is none."""
        return f"positions[indexOf(fields, {self._numbers[field]})]"


_FIELDS = {field.name: field for field in FIELDS}


def _names(field: str) -> tuple[str, ...]:
    return tuple(source for source in _FIELDS[field].sources if isinstance(source, str))


def _inside(field: str) -> Inside:
    return next(source for source in _FIELDS[field].sources if isinstance(source, Inside))


class _Document:
    """JSON that is read once, into a tuple of every number that some field wants from it."""

    def __init__(self, alias: str, fields: Iterable[str], number: str) -> None:
        self._alias = alias
        self._number = number
        wanted = [_inside(field) for field in fields]
        self._names = sorted({name for inside in wanted for name in (*inside.names, *inside.plus)})

    def extract(self, text: str) -> str:
        flat = [f"`{name}` {self._number}" for name in self._names if "." not in name]
        nested: dict[str, list[str]] = {}
        for name in self._names:
            if "." in name:
                outer, inner = name.split(".")
                nested.setdefault(outer, []).append(f"`{inner}` {self._number}")
        groups = [f"`{outer}` Tuple({', '.join(inner)})" for outer, inner in nested.items()]
        return f"JSONExtract({text}, 'Tuple({', '.join([*flat, *groups])})') AS {self._alias}"

    def first_of(self, field: str, plain: str) -> str:
        """SQL for a field: what the document says, else the plain attribute."""
        inside = _inside(field)
        values = [f"{self._alias}.{name}" for name in inside.names]
        first = f"arrayFirst(n -> n != 0, [{', '.join(values)}])"
        for name in inside.plus:
            first += f" + {self._alias}.{name}"
        return f"arrayFirst(n -> n != 0, [{first}, {plain}])"


_TOKENS = (
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def spans_select(source: str) -> str:
    """SQL that turns landing rows into span rows."""
    picks = _Picks(
        {field.name: _names(field.name) for field in FIELDS}
        | {"usage": USAGE_DOCUMENTS, "costs": COST_DOCUMENTS}
    )
    usage = _Document("usage", _TOKENS, "UInt64")
    costs = _Document("costs", ["given_cost"], "Float64")

    def tokens(field: str) -> str:
        return usage.first_of(field, f"toUInt32OrZero({picks.text(field)})")

    kind = _mapped(f"lower(extract({picks.text('kind')}, '^[^ \"]+'))", KINDS, "''")
    carried = "workspace, version, service, environment, resource, s"
    layers = [
        "SELECT workspace, version, service, environment, resource, arrayJoin(spans) AS s",
        f"SELECT {carried}, arrayMap(a -> {_text_of('a.value')}, s.attributes) AS texts",
        f"SELECT {carried}, texts, {_packed(picks.ranks, 's.attributes.key')} AS packed",
        f"""SELECT {carried}, texts,
  arrayMap(p -> bitShiftRight(p, {_POSITION_BITS + _PRECEDENCE_BITS}), packed) AS fields,
  arrayMap(p -> bitAnd(p, {2**_POSITION_BITS - 1}), packed) AS positions,
  arrayMap(i -> trimLeft(texts[i], '\\x02\\x03\\x04'), positions) AS picked""",
        f"""SELECT {carried}, texts, fields, positions, picked,
  {kind} AS named_kind,
  {_unquote(picks.text("model"))} AS model,
  {_unquote(picks.text("tool_name"))} AS named_tool,
  {_unquote(picks.text("agent_name"))} AS named_agent,
  {picks.text("entity_name")} AS entity,
  multiIf(notEmpty(named_kind), named_kind, notEmpty(named_tool), 'tool', notEmpty(model), 'llm',
   'other') AS kind,
  s.start_time_unix_nano AS start_nano,
  {usage.extract(picks.text("usage"))},
  {costs.extract(picks.text("costs"))},
  {tokens("input_tokens")} AS given_input,
  {tokens("cached_tokens")} AS cached_tokens,
  {tokens("cache_write_tokens")} AS cache_write_tokens,
  {tokens("output_tokens")} AS output_tokens,
  {tokens("reasoning_tokens")} AS reasoning_tokens,
  {costs.first_of("given_cost", f"toFloat64OrZero({picks.text('given_cost')})")} AS given_cost,
  if(cached_tokens + cache_write_tokens > given_input,
   given_input + cached_tokens + cache_write_tokens, given_input) AS input_tokens,
  {_provider(picks.text("provider"))} AS provider,
  {picks.text("error_name")} AS error_name,
  concat(s.status.message, ' ', {picks.text("error_message")}) AS error_message,
  {_classified(f"concat(error_name, ' ', {picks.text('http_status')})")} AS by_name,
  {_classified("error_message")} AS by_message,
  arrayFilter(k -> {_starts_with("k", INDEXED_INPUT)}, s.attributes.key) AS input_pieces,
  arrayFilter(k -> {_starts_with("k", INDEXED_OUTPUT)}, s.attributes.key) AS output_pieces,
  {picks.position("input")} AS input_at,
  {picks.position("output")} AS output_at,
  {_content("input_at", "input_pieces")} AS input,
  {_content("output_at", "output_pieces")} AS output,
  empty(s.parent_span_id) OR bitAnd(s.flags, 768) = 768 AS is_root,
  {price_of("workspace", "provider", "model", _MOMENT)} AS price""",
        f"""SELECT
  workspace,
  toStartOfHour({_MOMENT}) AS hour,
  toFixedString(s.trace_id, 16) AS trace_id,
  toFixedString(s.span_id, 8) AS span_id,
  version,
  toFixedString(s.parent_span_id, 8) AS parent_span_id,
  is_root,
  s.name AS name,
  kind,
  fromUnixTimestamp64Nano(toInt64(start_nano), 'UTC') AS start,
  if(s.end_time_unix_nano > s.start_time_unix_nano,
   s.end_time_unix_nano - s.start_time_unix_nano, 0) AS duration_ns,
  transform(s.status.code, [1, 2], ['ok', 'error'], 'unset') AS status,
  trimBoth(error_message) AS status_message,
  {_error_type()} AS error_type,
  service AS service_name,
  multiIf(notEmpty(named_agent), named_agent, kind != 'agent', '', notEmpty(entity), entity,
   replaceRegexpOne(s.name, '^(invoke_agent|agent run) ', '')) AS agent_name,
  {_unquote(picks.text("workflow_name"))} AS workflow_name,
  provider,
  model,
  input_tokens,
  output_tokens,
  cached_tokens,
  cache_write_tokens,
  reasoning_tokens,
  given_cost,
  if(given_cost > 0, given_cost, {cost_at("price")}) AS cost,
  given_cost > 0 OR price.1 = 1 OR input_tokens + output_tokens = 0 AS is_priced,
  multiIf(notEmpty(named_tool), named_tool, kind != 'tool', '', notEmpty(entity), entity,
   replaceRegexpOne(s.name, '^(execute_tool|running tool:?) ', '')) AS tool_name,
  {_unquote(picks.text("session_id"))} AS session_id,
  {_unquote(picks.text("user_id"))} AS user_id,
  if(notEmpty({picks.text("environment")}), {picks.text("environment")}, environment)
   AS environment,
  {picks.text("experiment_id")} AS experiment_id,
  {picks.text("variant")} AS variant,
  {picks.text("trace_name")} AS trace_name,
  if(is_root, substringUTF8(input, 1, {PREVIEW_CHARACTERS}), '') AS input_preview,
  if(is_root, substringUTF8(output, 1, {PREVIEW_CHARACTERS}), '') AS output_preview,
  {_kept_attributes()} AS attributes,
  resource,
  s.events AS events,
  s.links AS links,
  input,
  output""",
    ]
    return nest(layers, source)


def logs_select(source: str) -> str:
    """SQL that turns landing rows into log rows."""
    picks = _Picks({name: _names(name) for name in ("agent_name",)})
    carried = "workspace, version, service, environment, resource, r"
    layers = [
        "SELECT workspace, version, service, environment, resource, arrayJoin(log_records) AS r",
        f"SELECT {carried}, arrayMap(a -> {_text_of('a.value')}, r.attributes) AS texts",
        f"SELECT {carried}, texts, {_packed(picks.ranks, 'r.attributes.key')} AS packed",
        f"""SELECT {carried}, texts,
  arrayMap(p -> bitShiftRight(p, {_POSITION_BITS + _PRECEDENCE_BITS}), packed) AS fields,
  arrayMap(p -> trimLeft(texts[bitAnd(p, {2**_POSITION_BITS - 1})], '\\x02\\x03\\x04'), packed)
   AS picked,
  if(r.time_unix_nano = 0, r.observed_time_unix_nano, r.time_unix_nano) AS given_nano,
  least(greatest(given_nano, {_EARLIEST_NANO}), {_LATEST_NANO}) AS time_nano""",
        f"""SELECT
  workspace,
  fromUnixTimestamp64Nano(toInt64(time_nano), 'UTC') AS time,
  reinterpretAsUInt128(sipHash128(workspace, given_nano, r.trace_id, r.span_id,
   r.severity_number, r.body, texts)) AS id,
  version,
  if(length(r.trace_id) = 16, lower(hex(r.trace_id)), '') AS trace_id,
  if(length(r.span_id) = 8, lower(hex(r.span_id)), '') AS span_id,
  if(r.severity_number BETWEEN 1 AND 24, r.severity_number, 9) AS severity,
  {_text_of("r.body")} AS message,
  r.event_name AS event_name,
  if(notEmpty({picks.text("agent_name")}), {picks.text("agent_name")}, service) AS agent_name,
  mapFromArrays(r.attributes.key, texts) AS attributes,
  resource""",
    ]
    return nest(layers, source)


def metrics_select(source: str) -> str:
    """SQL that keeps metrics as they came, one row a metric, decoded when read."""
    return (
        "SELECT workspace, version, fromUnixTimestamp64Nano(toInt64(version), 'UTC') AS time, "
        f"service AS service_name, resource, arrayJoin(metrics) AS metric FROM {source}"
    )


def nest(layers: Sequence[str], source: str) -> str:
    """Put each layer around the one before it."""
    sql = source
    for index, layer in enumerate(layers):
        sql = f"{layer}\nFROM {sql}"
        if index < len(layers) - 1:
            sql = f"({sql})"
    return sql


def quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _array(texts: Iterable[str]) -> str:
    return "[" + ", ".join(quote(text) for text in texts) + "]"


def _text_of(value: str) -> str:
    """SQL for an OTLP value as text; what is not a string gets its marker."""
    parts = [f"{value}.string_value"]
    for name, marker in (("bool", "\\x02"), ("int", "\\x03"), ("double", "\\x04")):
        parts.append(f"ifNull(concat('{marker}', {value}.{name}_value), '')")
    for name, marker in (("array", "\\x05"), ("kvlist", "\\x06"), ("bytes", "\\x07")):
        column = f"{value}.{name}_value"
        parts.append(f"if(empty({column}), '', concat('{marker}', {column}))")
    return f"concat({', '.join(parts)})"


def _packed(ranks: Mapping[str, int], keys: str) -> str:
    """SQL for the sorted ranks of the attributes that mean something and have a value."""
    names, numbers = _array(ranks), ", ".join(str(rank) for rank in ranks.values())
    rank = f"transform(k, {names}, [{numbers}], 0)"
    return f"""arraySort(arrayFilter(p -> p >= {2**_POSITION_BITS}, arrayMap(
   (k, t, i) -> toUInt32(if(empty(t), 0, {rank}) * {2**_POSITION_BITS} + i),
   {keys}, texts, arrayEnumerate(texts))))"""


def _mapped(value: str, table: Mapping[str, Sequence[str]], default: str) -> str:
    names = [name for names in table.values() for name in names]
    meanings = [meaning for meaning, names in table.items() for _ in names]
    return f"transform({value}, {_array(names)}, {_array(meanings)}, {default})"


def _unquote(text: str) -> str:
    """SQL that takes off the quotes of values that were written as JSON strings."""
    return f"trimBoth({text}, '\"')"


def _provider(text: str) -> str:
    plain = f"lower({_unquote(text)})"
    # `openai.chat` and `openai.responses` are both openai.
    head = f"extract({plain}, '^[^.]+')"
    return _mapped(plain, PROVIDERS, _mapped(head, PROVIDERS, plain))


def _starts_with(value: str, prefixes: Iterable[str]) -> str:
    return " OR ".join(f"startsWith({value}, {quote(prefix)})" for prefix in prefixes)


def _kept_attributes() -> str:
    """SQL for the attributes that stay: all but the contents and our own names."""
    pieces = _starts_with("k", (*INDEXED_INPUT, *INDEXED_OUTPUT, "spanwise."))
    kept = f"i != input_at AND i != output_at AND NOT ({pieces})"
    return f"""mapFromArrays(
   arrayFilter((k, i) -> {kept}, s.attributes.key, arrayEnumerate(texts)),
   arrayFilter((t, k, i) -> {kept}, texts, s.attributes.key, arrayEnumerate(texts)))"""


def _content(position: str, pieces: str) -> str:
    together = f"""toJSONString(mapFromArrays({pieces},
   arrayMap(k -> texts[indexOf(s.attributes.key, k)], {pieces})))"""
    return f"if({position} > 0 OR empty({pieces}), texts[{position}], {together})"


def _classified(text: str) -> str:
    """SQL for the type of error that a text speaks of."""
    rules = ", ".join(
        f"match({text}, {quote('(?i)' + rule.pattern)}), {quote(rule.error_type)}"
        for rule in ERROR_RULES
    )
    return f"multiIf({rules}, 'other')"


def _error_type() -> str:
    """SQL for the rule table: what is specific in the name, then in the message, then the rest."""
    known = _array([*(rule.error_type for rule in ERROR_RULES), "other"])
    return f"""multiIf(s.status.code != 2, '', error_name IN {known}, error_name,
   by_name NOT IN ['api_error', 'other'], by_name,
   by_message IN ['rate_limit', 'timeout'], by_message,
   by_name != 'other', by_name, by_message)"""
