"""Generates the SQL that extracts span and log rows from OTLP, from the convention table.

The engine plans a view's SELECT again for every inserted block, at about 0.1 ms per function. So
shared expressions are nested layers, functions are used sparingly, and what only few spans need is
done earlier, in `ingest`. Landing tables are named by a hash of this SQL: any change to its text
creates new ones.
"""

from collections.abc import Mapping, Sequence

from spanwise.model.telemetry.attribute_values import (
    ERROR_RULES,
    FRAMEWORKS,
    HOSTS,
    KINDS,
    MODEL_PREFIXES,
    PROVIDER_SUFFIX,
    PROVIDERS,
)
from spanwise.model.telemetry.conventions import FIELDS, ZERO_COST_IS_UNKNOWN
from spanwise.storage.telemetry.engine.conditions import quoted
from spanwise.storage.telemetry.extraction.field_ranks import FieldRanks, array_of
from spanwise.storage.telemetry.prices.price_dictionary import (
    cost_with,
    is_priced_with,
    rates_of,
    tool_cost_with,
    unpriced_tokens_with,
)

# Arrays, maps and bytes are declared as bytes: the same on the wire, but the engine does not parse
# them. They are stored raw behind a type marker and decoded when read.
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
message Head { string workspace = 1; uint64 version = 2; string service = 3;
 string environment = 4; string resource = 5; }
message Spans { repeated Span spans = 2; Head head = 100; }
message Logs { repeated LogRecord log_records = 2; Head head = 100; }
"""

_ANY = (
    "Tuple(string_value String, bool_value Nullable(String), int_value Nullable(String), "
    "double_value Nullable(String), array_value Nullable(String), kvlist_value Nullable(String), "
    "bytes_value Nullable(String))"
)
# LowCardinality, because a batch has few distinct keys: functions of a key run once per value.
PAIRS = f"Array(Tuple(key LowCardinality(String), value {_ANY}))"
HEAD = (
    "head Tuple(workspace String, version UInt64, service String, environment String, "
    "resource String)"
)

# The columns of the landing tables.
SPANS_COLUMNS = (
    "spans Array(Tuple(trace_id String, span_id String, parent_span_id String, name String, "
    "start_time_unix_nano UInt64, end_time_unix_nano UInt64, "
    f"attributes {PAIRS}, events Array(String), links Array(String), "
    f"status Tuple(message String, code Int32), flags UInt32)), {HEAD}"
)
LOGS_COLUMNS = (
    "log_records Array(Tuple(time_unix_nano UInt64, observed_time_unix_nano UInt64, "
    f"severity_number Int32, severity_text String, body {_ANY}, attributes {PAIRS}, "
    f"trace_id String, span_id String, event_name String)), {HEAD}"
)

PREVIEW_CHARACTERS = 200

_EARLIEST_NANO = 946_684_800_000_000_000
_LATEST_NANO = 4_102_444_800_000_000_000
_MAX_UINT32 = 2**32 - 1
# A reported cost may be 0, so a negative one stands for none.
_NO_COST = "toDecimal64(-1, 12)"
_MOMENT = "toDateTime(intDiv(s.start_time_unix_nano, 1000000000), 'UTC')"
# Names of agent spans contain these texts beside the agent's name, or instead of it.
_NOT_IN_AGENT_NAMES = (
    "^(invoke_agent|create_agent|agent_step|agent run) |^step [0-9]+$|^Agent workflow$"
    "|[.](run|arun|_execute_core|execute_task|kickoff)$"
)
# What Logfire's scrubbing leaves of a value.
_SCRUBBED = "[Scrubbed due to"


def spans_select(source: str) -> str:
    """SQL that extracts span rows from the landing table."""
    ranks = FieldRanks(field.name for field in FIELDS)
    text = ranks.text
    layers = [
        "SELECT head, arrayJoin(spans) AS s",
        f"""SELECT head, s, s.attributes.key AS keys,
  arrayMap(v -> {text_of("v")}, s.attributes.value) AS texts""",
        f"SELECT head, s, keys, texts, {ranks.ranked_sql()} AS ranked",
        f"""SELECT head, s, keys, texts, {ranks.picked_sql()} AS picked,
  {ranks.position("input")} AS input_at,
  {ranks.position("output")} AS output_at""",
        f"""SELECT head, s, keys, texts, picked, input_at, output_at,
  {_kind(ranks)} AS kind,
  {_provider(text("provider"), text("server"))} AS given_provider,
  {_provider_prefix(text("model"))} AS maker,
  multiIf(notEmpty(given_provider), given_provider, notEmpty(maker), maker,
   {_provider_of_model(text("model"))}) AS provider,
  if(notEmpty(maker) AND maker = provider, extract({text("model")}, '/(.+)$'), {text("model")})
   AS model,
  s.status.code = 2 OR upper({text("level")}) = 'ERROR' AS is_error,
  {_number(text("input_tokens"))} AS given_input,
  {_number(text("output_tokens"))} AS output_tokens,
  {_number(text("cached_tokens"))} AS cached_tokens,
  {_number(text("cache_write_tokens"))} AS cache_write_tokens,
  {_number(text("reasoning_tokens"))} AS reasoning_tokens,
  {_number(text("audio_input_tokens"))} AS audio_input_tokens,
  {_number(text("audio_output_tokens"))} AS audio_output_tokens,
  {_number(text("images"))} AS images,
  least(given_input + if(cached_tokens + cache_write_tokens > given_input,
   cached_tokens + cache_write_tokens, 0), {_MAX_UINT32}) AS input_tokens,
  toDecimal64OrDefault({text("given_cost")}, 12, {_NO_COST}) AS reported_cost,
  if(reported_cost = 0 AND has(keys, {quoted(ZERO_COST_IS_UNKNOWN)}), {_NO_COST}, reported_cost)
   AS given_cost,
  (empty(s.parent_span_id) OR bitAnd(s.flags, 768) = 768) AND empty({text("internal")})
   AS is_root""",
        f"""SELECT *, kind = 'tool' AS is_tool,
  {_name_of(ranks, "tool", "^(execute_tool|running tool:?) ", "entity_name")} AS tool_name,
  {rates_of("head.workspace", "provider", "model", "tool_name", _MOMENT)} AS rates""",
        f"""SELECT
  head.workspace AS workspace,
  intDiv(s.start_time_unix_nano, 3600000000000) * 3600 AS hour,
  s.trace_id AS trace_id,
  s.span_id AS span_id,
  head.version AS version,
  s.parent_span_id AS parent_span_id,
  is_root,
  s.name AS name,
  kind,
  fromUnixTimestamp64Nano(toInt64(s.start_time_unix_nano), 'UTC') AS start,
  greatest(s.end_time_unix_nano, s.start_time_unix_nano) - s.start_time_unix_nano AS duration_ns,
  multiIf(is_error, 'error', s.status.code = 1, 'ok', 'unset') AS status,
  if(empty(s.status.message), {text("error_message")}, s.status.message) AS status_message,
  {_error_type(ranks)} AS error_type,
  head.service AS service_name,
  {_name_of(ranks, "agent", _NOT_IN_AGENT_NAMES, "entity_name", "node_name")} AS agent_name,
  {text("workflow_name")} AS workflow_name,
  provider,
  model,
  {text("response_id")} AS response_id,
  input_tokens,
  output_tokens,
  cached_tokens,
  cache_write_tokens,
  reasoning_tokens,
  audio_input_tokens,
  audio_output_tokens,
  images,
  given_cost,
  if(given_cost >= 0, given_cost, {cost_with("rates", "is_error")}) AS cost,
  if(given_cost >= 0, 0, {unpriced_tokens_with("rates")}) AS unpriced_tokens,
  given_cost >= 0 OR {is_priced_with("rates", "unpriced_tokens")} AS is_priced,
  {tool_cost_with("rates", "is_error")} AS tool_cost,
  tool_name,
  {_unscrubbed(text("session_id"))} AS session_id,
  {_unscrubbed(text("user_id"))} AS user_id,
  if(empty({text("environment")}), head.environment, {text("environment")}) AS environment,
  {text("experiment_id")} AS experiment_id,
  {text("variant")} AS variant,
  {text("trace_name")} AS trace_name,
  if(is_root, substringUTF8(texts[input_at], 1, {PREVIEW_CHARACTERS}), '') AS input_preview,
  if(is_root, substringUTF8(texts[output_at], 1, {PREVIEW_CHARACTERS}), '') AS output_preview,
  mapFromArrays(
   arrayFilter((k, i) -> i != input_at AND i != output_at, keys, arrayEnumerate(keys)),
   arrayFilter((t, i) -> i != input_at AND i != output_at, texts, arrayEnumerate(texts)))
   AS attributes,
  head.resource AS resource,
  s.events AS events,
  s.links AS links,
  texts[input_at] AS input,
  texts[output_at] AS output""",
    ]
    return nest(layers, source)


def logs_select(source: str) -> str:
    """SQL that extracts log rows from the landing table."""
    ranks = FieldRanks(["agent_name"])
    layers = [
        "SELECT head, arrayJoin(log_records) AS r",
        f"""SELECT head, r, r.attributes.key AS keys,
  arrayMap(v -> {text_of("v")}, r.attributes.value) AS texts""",
        f"SELECT head, r, keys, texts, {ranks.ranked_sql()} AS ranked",
        f"""SELECT head, r, keys, texts, {ranks.picked_sql()} AS picked,
  if(r.time_unix_nano = 0, r.observed_time_unix_nano, r.time_unix_nano) AS given_nano,
  least(greatest(given_nano, {_EARLIEST_NANO}), {_LATEST_NANO}) AS time_nano,
  {text_of("r.body")} AS message""",
        f"""SELECT
  head.workspace AS workspace,
  fromUnixTimestamp64Nano(toInt64(time_nano), 'UTC') AS time,
  reinterpretAsUInt128(sipHash128(head.workspace, given_nano, r.trace_id, r.span_id,
   r.severity_number, r.event_name, message, keys, texts)) AS id,
  head.version AS version,
  if(length(r.trace_id) = 16, lower(hex(r.trace_id)), '') AS trace_id,
  if(length(r.span_id) = 8, lower(hex(r.span_id)), '') AS span_id,
  if(r.severity_number BETWEEN 1 AND 24, r.severity_number, 9) AS severity,
  message,
  r.event_name AS event_name,
  if(notEmpty({ranks.text("agent_name")}), {ranks.text("agent_name")}, head.service) AS agent_name,
  mapFromArrays(keys, texts) AS attributes,
  head.resource AS resource""",
    ]
    return nest(layers, source)


def nest(layers: Sequence[str], source: str) -> str:
    """Nest each layer around the previous one."""
    sql = source
    for index, layer in enumerate(layers):
        sql = f"{layer}\nFROM {sql}"
        if index < len(layers) - 1:
            sql = f"({sql})"
    return sql


def text_of(value: str) -> str:
    """SQL for an OTLP value as text; anything but a string gets its type marker."""
    marked = ", ".join(
        f"concat('\\x{number:02}', {value}.{name}_value)"
        for number, name in enumerate(("bool", "int", "double", "array", "kvlist", "bytes"), 2)
    )
    return f"coalesce({marked}, {value}.string_value)"


def _transform(value: str, table: Mapping[str, Sequence[str]], default: str) -> str:
    names = [name for names in table.values() for name in names]
    meanings = [meaning for meaning, names in table.items() for _ in names]
    return f"transform({value}, {array_of(names)}, {array_of(meanings)}, {default})"


def _provider(name: str, server: str) -> str:
    """SQL for the provider that an attribute names or whose host was called."""
    plain = f"replaceRegexpOne(lower(toLowCardinality({name})), {quoted(PROVIDER_SUFFIX)}, '')"
    by_host = _transform(f"toLowCardinality({server})", HOSTS, "''")
    return (
        f"if(empty({name}), {by_host}, {_transform(plain, {**PROVIDERS, '': FRAMEWORKS}, plain)})"
    )


def _provider_prefix(model: str) -> str:
    """SQL for the provider in a name such as `openai/gpt-4o`; empty without one.

    The owner of an open model, as in `meta-llama/Llama-3`, is part of the model's name.
    """
    known = PROVIDERS | {name: (*PROVIDERS.get(name, ()), name) for name in (*PROVIDERS, *HOSTS)}
    return _transform(f"extract(toLowCardinality({model}), '^([^/]+)/')", known, "''")


def _provider_of_model(model: str) -> str:
    """SQL for the provider by the beginning of the model's name; empty when it is not known."""
    names = "|".join(name for names in MODEL_PREFIXES.values() for name in names)
    return _transform(f"extract(toLowCardinality({model}), '^({names})')", MODEL_PREFIXES, "''")


def _kind(ranks: FieldRanks) -> str:
    """SQL for the kind: from an attribute, else from the presence of a tool or model."""
    # Vercel appends the function's name: `ai.generateText.doGenerate my-function`.
    named = f"lower(extract(toLowCardinality({ranks.text('kind')}), '^[^ ]+'))"
    tool, model = ranks.text("tool_name"), ranks.text("model")
    return _transform(
        named, KINDS, f"multiIf(notEmpty({tool}), 'tool', notEmpty({model}), 'llm', 'other')"
    )


def _unscrubbed(text: str) -> str:
    return f"if(startsWith({text}, {quoted(_SCRUBBED)}), '', {text})"


def _number(text: str) -> str:
    return f"toUInt32OrZero({text})"


def _name_of(ranks: FieldRanks, kind: str, not_in_name: str, *others: str) -> str:
    """SQL for the name of an agent or tool: as given, else from a span of that kind."""
    given = ranks.text(f"{kind}_name")
    fallbacks = "".join(f"notEmpty({ranks.text(o)}), {ranks.text(o)}, " for o in others)
    return (
        f"multiIf(notEmpty({given}) OR kind != '{kind}', {given}, {fallbacks}"
        f"replaceRegexpOne(s.name, '{not_in_name}', ''))"
    )


def _error_type(ranks: FieldRanks) -> str:
    """SQL for the type of a span's error, empty when it has none."""
    description = (
        f"{ranks.text('error_name')}, ' ', {ranks.text('http_status')}, '\\n', "
        f"s.status.message, ' ', {ranks.text('error_message')}"
    )
    return classify_error(f"if(is_error, concat({description}), '')")


def classify_error(text: str) -> str:
    """SQL for the error type of a text: names on the first line, the message below."""
    rules = error_patterns()
    types = array_of(error_type for error_type, _ in rules)
    patterns = array_of(pattern for _, pattern in rules)
    return f"{types}[arrayMin(multiMatchAllIndices({text}, {patterns}))]"


def error_patterns() -> list[tuple[str, str]]:
    """Return error types and patterns in order of precedence.

    A type given by the application wins; then specific matches in the name, then in the message,
    then the rest.
    """
    by_type = {rule.error_type: rule.pattern for rule in ERROR_RULES}
    in_name = {kind: f"(?i)^[^\\n]*({pattern})" for kind, pattern in by_type.items()}
    in_message = {kind: f"(?is)\\n.*({pattern})" for kind, pattern in by_type.items()}
    return [
        *((kind, f"^{kind} ") for kind in (*by_type, "other")),
        *((kind, in_name[kind]) for kind in ("rate_limit", "timeout", "validation")),
        *((kind, in_message[kind]) for kind in ("rate_limit", "timeout")),
        ("api_error", in_name["api_error"]),
        *((kind, in_message[kind]) for kind in ("validation", "api_error")),
        ("other", "\\n"),
    ]
