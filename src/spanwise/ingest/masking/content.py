"""Which attributes are kept in the mode `metadataOnly`.

Texts are kept only if the product reads them and they are not content, by the convention table, or
if they describe the environment. So unknown attributes are removed. Numbers are kept. The address
of the user is removed, although it may be the user id.
"""

import re
from functools import lru_cache

from spanwise.ingest.otlp.coding_agents import CALLS
from spanwise.model.telemetry.attribute_values import ERROR_RULES
from spanwise.model.telemetry.coding_agents import (
    BILLING_KEY,
    DECISION_KEYS,
    LANGUAGE_KEYS,
    LINE_TYPE_KEYS,
    TOKEN_TYPE_KEYS,
)
from spanwise.model.telemetry.conventions import (
    FIELDS,
    SPLIT_CONTENT_PREFIXES,
    USER_EMAIL,
    ConditionalAttribute,
)
from spanwise.model.telemetry.conversation.messages import INPUT_EVENTS, OUTPUT_EVENTS

_CONTENT_FIELDS = ("input", "output", "error_message")
_CONTENT = frozenset(
    name for field in FIELDS if field.name in _CONTENT_FIELDS for name in field.attributes
)
_CONTENT_PREFIXES = tuple(
    prefix for prefixes in SPLIT_CONTENT_PREFIXES.values() for prefix in prefixes
)
_FIELD_ATTRIBUTES = frozenset(
    name for field in FIELDS if field.name not in _CONTENT_FIELDS for name in field.attributes
)
_CONDITIONAL_ATTRIBUTES = frozenset(
    name
    for field in FIELDS
    for source in field.sources
    if isinstance(source, ConditionalAttribute)
    for name in (source.source_attribute, source.other)
)
_OTHERS = frozenset(
    (
        "spanwise.call.id",
        "spanwise.call.derived",
        "gen_ai.response.id",
        "gen_ai.response.finish_reasons",
        "gen_ai.agent.id",
        "gen_ai.tool.call.id",
        "gen_ai.tool.type",
        "gen_ai.output.type",
        "gen_ai.token.type",
        "gen_ai.data_source.id",
        "gen_ai.evaluation.name",
        "gen_ai.evaluation.score.label",
        "feature_flag.provider.name",
        "feature_flag.context.id",
        "http.request.method",
        "http.method",
        "http.route",
        "rpc.system",
        "rpc.service",
        "rpc.method",
        "db.system",
        "db.system.name",
        "db.operation.name",
        "messaging.system",
        "code.function.name",
        "code.namespace",
        # Kinds of data points.
        *LANGUAGE_KEYS,
        *DECISION_KEYS,
        *LINE_TYPE_KEYS,
        *TOKEN_TYPE_KEYS,
        # Coding agents send these.
        "vcs.repository.name",
        "auth_type",
        "auth_mode",
        "user.account_uuid",
        BILLING_KEY,
        # Events of coding agents.
        "event.name",
        "event.kind",
        "event.timestamp",
        "prompt.id",
        "prompt_id",
        "request_id",
        "client_request_id",
        "tool_use_id",
        "function_name",
        "success",
        "status_code",
        "duration_ms",
        "decision",
        "terminal.type",
        "app.version",
        "organization.id",
    )
)
_PREFIXES = (
    "service.",
    "telemetry.sdk.",
    "deployment.",
    "cloud.",
    "k8s.",
    "process.runtime.",
    "os.",
)
_KEPT = (_FIELD_ATTRIBUTES | _CONDITIONAL_ATTRIBUTES | _OTHERS) - {USER_EMAIL}

# A log record becomes a call only if it has the one that its event requires. A prompt is nothing
# but its text.
_REQUIRED = frozenset(
    name
    for call in CALLS.values()
    for name, value in call.required
    if value is None and name not in {"prompt", *_KEPT}
)
REMOVED = "[removed]"

# Events that carry nothing but a message.
MESSAGE_EVENTS = frozenset((*INPUT_EVENTS, *OUTPUT_EVENTS))

_ERROR_MESSAGES = frozenset(
    name for field in FIELDS if field.name == "error_message" for name in field.attributes
)
# The search lets no other thread run.
_SEARCHED_CHARACTERS = 65_536
_ERROR_WORDS = re.compile("|".join(f"(?:{rule.pattern})" for rule in ERROR_RULES), re.IGNORECASE)

_CALL_EVENTS = frozenset(name for call in CALLS for name in (call, call.partition(".")[2]))


@lru_cache(maxsize=4096)
def keeps_text(key: str) -> bool:
    return key in _KEPT or key.startswith(_PREFIXES)


@lru_cache(maxsize=4096)
def keeps_number(key: str) -> bool:
    return key not in _CONTENT and not key.startswith(_CONTENT_PREFIXES)


def is_error_message(key: str) -> bool:
    return key in _ERROR_MESSAGES


def keep_error_words(message: str) -> str:
    """Return only the words that determine the type of the error, such as `rate limit`."""
    return " ".join(dict.fromkeys(_ERROR_WORDS.findall(message, 0, _SEARCHED_CHARACTERS)))


def must_exist(key: str) -> bool:
    """Return whether an attribute is replaced, because its presence has a meaning."""
    return key in _REQUIRED


def is_event_name(body: str) -> bool:
    """Return whether a log body only names an event of a coding agent."""
    return body in _CALL_EVENTS
