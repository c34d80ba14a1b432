"""A fake model provider that answers deterministically.

It speaks as much of the OpenAI API (chat completions, responses, embeddings), the Anthropic API
(messages), the Gemini API (generateContent) and the Bedrock API (Converse) as the recorded SDKs
need, with and without streaming. The first turn
of a request that offers tools answers with a call of the first tool; every other turn answers
with a fixed text. A user message that holds ``[rate limit]``, ``[server error]``,
``[bad request]`` or ``[time out]`` gets that failure instead.
"""

from __future__ import annotations

import base64
import json
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Json = dict[str, Any]

CREATED = 1_767_225_600
ANSWER = "It is 18 degrees and sunny in Paris."
DATED = {
    "gpt-4o-mini": "gpt-4o-mini-2024-07-18",
    "gpt-4o": "gpt-4o-2024-08-06",
    "o4-mini": "o4-mini-2025-04-16",
    "gpt-5-mini": "gpt-5-mini-2025-08-07",
    "claude-sonnet-4-5": "claude-sonnet-4-5-20250929",
}
# (input, cached input, output, reasoning) for the turn that calls a tool and for the answer.
TOOL_TURN = (120, 64, 30, 12)
ANSWER_TURN = (180, 128, 42, 16)
# The Anthropic API counts cached input beside input_tokens, not inside them.
CLAUDE_TOOL_TURN = (60, 0, 1024, 35)  # input, cache read, cache write, output
CLAUDE_ANSWER_TURN = (90, 1024, 0, 48)
EMBEDDING_TOKENS = 8
# Models of a chat API whose usage has totals only.
WITHOUT_DETAILS = ("mistral", "llama")
EMBEDDING = [0.25, -0.5, 0.125, 0.75]
SLOW_SECONDS = 3.0
CLAUDE_ERRORS = {429: "rate_limit_error", 500: "api_error", 400: "invalid_request_error"}

FAILURES: dict[str, tuple[int, str, str]] = {
    "[rate limit]": (429, "rate_limit_exceeded", "Rate limit reached for requests"),
    "[server error]": (500, "server_error", "The server had an error processing your request"),
    "[bad request]": (400, "invalid_request_error", "Invalid value for 'temperature'"),
}


def _sample(schema: Json) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return 3
    if kind == "boolean":
        return True
    if kind == "array":
        return [_sample(schema.get("items", {}))]
    if kind == "object":
        return _arguments(schema)
    return "Paris"


def _arguments(schema: Json) -> Json:
    properties = schema.get("properties", {})
    names = schema.get("required") or list(properties)
    return {name: _sample(properties[name]) for name in names if name in properties}


def _function(tool: Json) -> tuple[str, Json]:
    function = tool.get("function", tool)
    schema = function.get("parameters") or function.get("input_schema") or {}
    return function["name"], _arguments(schema)


_responses: Counter[str] = Counter()


def new_response_id(name: str) -> str:
    """Return an id of its own for every response: spans with the same id report the same call."""
    _responses[name] += 1
    return name if _responses[name] == 1 else f"{name}-{_responses[name]}"


_calls: list[Json] = []
TOKENS = ("inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens")


def log_call(model: str, *counts: int) -> None:
    """Note what was returned: input (all of it), output, cached, cache write and reasoning."""
    _calls.append({"model": model, **dict(zip(TOKENS, counts, strict=True))})


def take_calls() -> list[Json]:
    """Return the successful calls since the last time."""
    taken = _calls[:]
    _calls.clear()
    return taken


FINAL_ANSWER: Json = {
    "function": {
        "name": "final_answer",
        "parameters": {"properties": {"answer": {"enum": [ANSWER]}}},
    }
}


def chat_completion(request: Json) -> Json:
    tools = request.get("tools") or []
    answered = any(message.get("role") == "tool" for message in request["messages"])
    answer = ANSWER
    if any(tool["function"]["name"] == "final_answer" for tool in tools):
        # smolagents tells a result as text, and wants the answer as a call.
        told = "Observation:" in json.dumps(request["messages"][-1])
        tools, answered = ([FINAL_ANSWER] if told else tools), False
    elif "[[ ## completed ## ]]" in json.dumps(request["messages"]):
        # DSPy asks for fields under headings.
        answer = f"[[ ## answer ## ]]\n{ANSWER}\n\n[[ ## completed ## ]]"
    calls = bool(tools) and not answered
    tokens_in, cached, tokens_out, reasoning = TOOL_TURN if calls else ANSWER_TURN
    model = DATED.get(request["model"], request["model"])
    details: Json = {
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
    }
    if model.startswith(WITHOUT_DETAILS):
        cached = reasoning = 0
        details = {}
    log_call(model, tokens_in, tokens_out, cached, 0, reasoning)
    message: Json = {"role": "assistant", "content": answer, "refusal": None}
    if calls:
        name, arguments = _function(tools[0])
        call = {"name": name, "arguments": json.dumps(arguments)}
        message["content"] = None
        message["tool_calls"] = [{"id": "call_weather_1", "type": "function", "function": call}]
    return {
        "id": new_response_id("chatcmpl-tool" if calls else "chatcmpl-answer"),
        "object": "chat.completion",
        "created": CREATED,
        "model": model,
        "system_fingerprint": "fp_fake",
        "service_tier": "default",
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
            **details,
        },
    }


def chat_chunks(request: Json) -> Iterable[Json]:
    full = chat_completion(request)
    choice = full["choices"][0]
    base = {key: full[key] for key in ("id", "created", "model", "system_fingerprint")}
    base["object"] = "chat.completion.chunk"

    def chunk(delta: Json, finish: str | None = None) -> Json:
        part = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**base, "choices": [part]}

    yield chunk({"role": "assistant", "content": ""})
    for position, call in enumerate(choice["message"].get("tool_calls", [])):
        yield chunk({"tool_calls": [{"index": position, **call}]})
    if choice["message"]["content"]:
        half = len(ANSWER) // 2
        yield chunk({"content": ANSWER[:half]})
        yield chunk({"content": ANSWER[half:]})
    yield chunk({}, choice["finish_reason"])
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": full["usage"]}


def response(request: Json) -> Json:
    tools = [tool for tool in request.get("tools") or [] if tool.get("type") == "function"]
    given = request["input"] if isinstance(request["input"], list) else []
    answered = any(item.get("type") == "function_call_output" for item in given)
    calls = bool(tools) and not answered
    tokens_in, cached, tokens_out, reasoning = TOOL_TURN if calls else ANSWER_TURN
    model = DATED.get(request["model"], request["model"])
    log_call(model, tokens_in, tokens_out, cached, 0, reasoning)
    item: Json
    if calls:
        name, arguments = _function(tools[0])
        item = {
            "type": "function_call",
            "id": "fc_weather_1",
            "call_id": "call_weather_1",
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
    else:
        item = {
            "type": "message",
            "id": "msg_answer_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
        }
    return {
        "id": new_response_id("resp_tool" if calls else "resp_answer"),
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "metadata": {},
        "model": model,
        "output": [item],
        "parallel_tool_calls": True,
        "temperature": request.get("temperature", 1.0),
        "tool_choice": "auto",
        "tools": request.get("tools") or [],
        "top_p": 1.0,
        "service_tier": "default",
        "usage": {
            "input_tokens": tokens_in,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": tokens_out,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": tokens_in + tokens_out,
        },
    }


def response_events(request: Json) -> Iterable[Json]:
    full = response(request)
    item = full["output"][0]
    started = {**full, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": started}
    if item["type"] == "function_call":
        yield {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "arguments": "", "status": "in_progress"},
        }
        yield {
            "type": "response.function_call_arguments.delta",
            "item_id": item["id"],
            "output_index": 0,
            "delta": item["arguments"],
        }
        yield {
            "type": "response.function_call_arguments.done",
            "item_id": item["id"],
            "output_index": 0,
            "name": item["name"],
            "arguments": item["arguments"],
        }
    else:
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        empty = {"type": "output_text", "text": "", "annotations": []}
        yield {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "content": [], "status": "in_progress"},
        }
        yield {"type": "response.content_part.added", **place, "part": empty}
        half = len(ANSWER) // 2
        for delta in (ANSWER[:half], ANSWER[half:]):
            yield {
                "type": "response.output_text.delta",
                **place,
                "delta": delta,
                "logprobs": [],
            }
        yield {"type": "response.output_text.done", **place, "text": ANSWER, "logprobs": []}
        yield {"type": "response.content_part.done", **place, "part": item["content"][0]}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": full}


def embeddings(request: Json) -> Json:
    values = request["input"]
    count = len(values) if isinstance(values, list) and not isinstance(values[0], int) else 1
    log_call(request["model"], EMBEDDING_TOKENS * count, 0, 0, 0, 0)
    vector: Any = EMBEDDING
    if request.get("encoding_format") == "base64":
        vector = base64.b64encode(struct.pack(f"<{len(EMBEDDING)}f", *EMBEDDING)).decode()
    return {
        "object": "list",
        "model": request["model"],
        "data": [{"object": "embedding", "index": i, "embedding": vector} for i in range(count)],
        "usage": {
            "prompt_tokens": EMBEDDING_TOKENS * count,
            "total_tokens": EMBEDDING_TOKENS * count,
        },
    }


def claude_message(request: Json) -> Json:
    tools = request.get("tools") or []
    answered = any(
        isinstance(message["content"], list)
        and any(block.get("type") == "tool_result" for block in message["content"])
        for message in request["messages"]
    )
    calls = bool(tools) and not answered
    tokens_in, read, written, tokens_out = CLAUDE_TOOL_TURN if calls else CLAUDE_ANSWER_TURN
    model = DATED.get(request["model"], request["model"])
    log_call(model, tokens_in + read + written, tokens_out, read, written, 0)
    block: Json = {"type": "text", "text": ANSWER, "citations": None}
    if calls:
        name, arguments = _function(tools[0])
        block = {"type": "tool_use", "id": "toolu_weather_1", "name": name, "input": arguments}
    return {
        "id": new_response_id("msg_tool" if calls else "msg_answer"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": tokens_in,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": tokens_out,
            "service_tier": "standard",
        },
    }


def claude_events(request: Json) -> Iterable[Json]:
    full = claude_message(request)
    block = full["content"][0]
    usage = {**full["usage"], "output_tokens": 1}
    yield {
        "type": "message_start",
        "message": {**full, "content": [], "stop_reason": None, "usage": usage},
    }
    if block["type"] == "tool_use":
        empty: Json = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    else:
        empty = {**block, "text": ""}
        half = len(ANSWER) // 2
        deltas = [{"type": "text_delta", "text": t} for t in (ANSWER[:half], ANSWER[half:])]
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": full["stop_reason"], "stop_sequence": None},
        "usage": {"output_tokens": full["usage"]["output_tokens"]},
    }
    yield {"type": "message_stop"}


def _model_in_path(path: str) -> str:
    """The model of `/v1beta/models/MODEL:generateContent` and `/model/MODEL/converse`."""
    name = path.rsplit("/model/", maxsplit=1)[-1].rsplit("/models/", maxsplit=1)[-1]
    return unquote(
        name.removesuffix("/converse").rpartition(":generateContent")[0] or name.split("/")[0]
    )


def gemini_content(request: Json) -> Json:
    """The Gemini API counts thoughts beside the candidates' tokens, and cached input inside."""
    tools = [f for tool in request.get("tools") or [] for f in tool.get("functionDeclarations", [])]
    answered = any("functionResponse" in part for c in request["contents"] for part in c["parts"])
    calls = bool(tools) and not answered
    tokens_in, cached, tokens_out, thoughts = TOOL_TURN if calls else ANSWER_TURN
    model = _model_in_path(request[PATH])
    log_call(model, tokens_in, tokens_out, cached, 0, thoughts)
    part: Json = {"text": ANSWER}
    if calls:
        schema = tools[0].get("parameters") or tools[0].get("parametersJsonSchema") or {}
        part = {
            "functionCall": {"name": tools[0]["name"], "args": _arguments(_lower_types(schema))}
        }
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        ],
        "modelVersion": model,
        "responseId": new_response_id("gemini-tool" if calls else "gemini-answer"),
        "usageMetadata": {
            "promptTokenCount": tokens_in,
            "candidatesTokenCount": tokens_out - thoughts,
            "cachedContentTokenCount": cached,
            "thoughtsTokenCount": thoughts,
            "totalTokenCount": tokens_in + tokens_out,
        },
    }


def _lower_types(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: value.lower() if key == "type" and isinstance(value, str) else _lower_types(value)
            for key, value in schema.items()
        }
    return schema


def converse(request: Json) -> Json:
    """Bedrock counts cached input beside inputTokens, as the Anthropic API does."""
    tools = (request.get("toolConfig") or {}).get("tools") or []
    answered = any("toolResult" in block for m in request["messages"] for block in m["content"])
    calls = bool(tools) and not answered
    tokens_in, read, written, tokens_out = CLAUDE_TOOL_TURN if calls else CLAUDE_ANSWER_TURN
    log_call(
        _model_in_path(request[PATH]), tokens_in + read + written, tokens_out, read, written, 0
    )
    block: Json = {"text": ANSWER}
    if calls:
        spec = tools[0]["toolSpec"]
        arguments = _arguments(spec["inputSchema"]["json"])
        block = {"toolUse": {"toolUseId": "tooluse_1", "name": spec["name"], "input": arguments}}
    return {
        "output": {"message": {"role": "assistant", "content": [block]}},
        "stopReason": "tool_use" if calls else "end_turn",
        "usage": {
            "inputTokens": tokens_in,
            "outputTokens": tokens_out,
            "totalTokens": tokens_in + tokens_out + read + written,
            "cacheReadInputTokens": read,
            "cacheWriteInputTokens": written,
        },
        "metrics": {"latencyMs": 12},
    }


# The key under which a request's path is handed to the answers that need it.
PATH = "_path"
Answer = tuple[Callable[[Json], Json], Callable[[Json], Iterable[Json]] | None]
ANSWERS: dict[str, Answer] = {
    "/chat/completions": (chat_completion, chat_chunks),
    "/responses": (response, response_events),
    "/embeddings": (embeddings, None),
    "/messages": (claude_message, claude_events),
    ":generateContent": (gemini_content, None),
    "/converse": (converse, None),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Stay silent: the recorder prints its own progress."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        text = raw.decode()
        if "[time out]" in text:
            time.sleep(SLOW_SECONDS)
        for marker, (status, code, message) in FAILURES.items():
            if marker in text:
                self._failure(status, code, message)
                return
        request: Json = json.loads(text)
        path = self.path.split("?")[0]
        request[PATH] = path
        for suffix, (whole, parts) in ANSWERS.items():
            if path.endswith(suffix):
                if parts and request.get("stream"):
                    self._stream(parts(request), named=suffix != "/chat/completions")
                else:
                    self._json(200, whole(request))
                return
        self._failure(404, "not_found", f"No such path: {path}")

    def _failure(self, status: int, code: str, message: str) -> None:
        if "/messages" in self.path:
            claude = {"type": CLAUDE_ERRORS.get(status, "not_found_error"), "message": message}
            self._json(status, {"type": "error", "error": claude, "request_id": "req_fake"})
            return
        if self.path.endswith("/converse"):
            self._json(status, {"message": message}, {"x-amzn-ErrorType": "ThrottlingException"})
            return
        error = {"message": message, "type": code, "param": None, "code": code}
        if ":generateContent" in self.path:
            error = {"code": status, "message": message, "status": "RESOURCE_EXHAUSTED"}
        self._json(status, {"error": error})

    def _json(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        self._send(status, "application/json", json.dumps(body).encode(), headers)

    def _stream(self, events: Iterable[Json], *, named: bool) -> None:
        lines: list[str] = []
        for number, event in enumerate(events):
            if named:
                lines.append(f"event: {event['type']}")
                numbered = {**event, "sequence_number": number}
                lines.append(f"data: {json.dumps(numbered)}\n")
            else:
                lines.append(f"data: {json.dumps(event)}\n")
        if not named:
            lines.append("data: [DONE]\n")
        self._send(200, "text/event-stream", ("\n".join(lines) + "\n").encode())

    def _send(
        self,
        status: int,
        content_type: str,
        body: bytes,
        headers: dict[str, str] | None = None,
    ) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(body)))
            self.send_header("x-request-id", "req_fake")
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


def start(port: int = 0) -> ThreadingHTTPServer:
    """Serve on 127.0.0.1 in a thread; the caller shuts it down."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
