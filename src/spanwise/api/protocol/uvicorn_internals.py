"""Every part of uvicorn and httptools that this package uses although it is not public.

`tests/unit/api/protocol/test_uvicorn_internals.py` checks each of them against the installed
versions.
"""

# Methods of uvicorn's HttpToolsProtocol that are overridden or called, with their parameters.
PROTOCOL_METHODS: dict[str, tuple[str, ...]] = {
    "__init__": ("self", "config", "server_state", "app_state", "_loop"),
    "connection_made": ("self", "transport"),
    "connection_lost": ("self", "exc"),
    "data_received": ("self", "data"),
    "pause_writing": ("self",),
    "resume_writing": ("self",),
    "on_message_begin": ("self",),
    "on_header": ("self", "name", "value"),
    "on_headers_complete": ("self",),
    "on_body": ("self", "body"),
    "on_message_complete": ("self",),
    "on_response_complete": ("self",),
    "_start_asgi_task": ("self", "cycle", "app"),
    "_unset_keepalive_if_required": ("self",),
}
# Attributes that HttpToolsProtocol sets on itself.
PROTOCOL_ATTRIBUTES = (
    "parser",
    "loop",
    "transport",
    "flow",
    "cycle",
    "headers",
    "url",
    "pipeline",
    "server_state",
)
# Attributes of RequestResponseCycle, one request with its response.
CYCLE_ATTRIBUTES = (
    "scope",
    "flow",
    "body",
    "more_body",
    "keep_alive",
    "disconnected",
    "waiting_for_100_continue",
    "response_started",
    "response_complete",
)
# Attributes and methods of FlowControl.
FLOW_ATTRIBUTES = ("read_paused", "write_paused", "pause_reading")
SERVER_STATE_ATTRIBUTES = ("default_headers",)
# Methods of httptools.HttpRequestParser.
PARSER_METHODS = (
    "feed_data",
    "get_method",
    "get_http_version",
    "should_upgrade",
    "set_dangerous_leniencies",
)
