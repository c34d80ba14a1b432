"""The parts of uvicorn and httptools that our protocol overrides are still what it expects.

When this fails after an upgrade: compare `uvicorn/protocols/http/httptools_impl.py` of the old and
the new version, adapt `spanwise/api/http/protocol`, and only then raise the version in
`pyproject.toml`.
"""

import ast
import asyncio
import inspect
import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import httptools
import pytest
import uvicorn
from uvicorn import _types
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from spanwise.api.http.protocol import (
    fast_path_dispatch,
    request_limits,
    uvicorn_internals,
)
from spanwise.api.http.protocol.server_protocol import ServerProtocol

ROOT = Path(__file__).parents[5]
MIXINS = (fast_path_dispatch, request_limits)


def attributes_set_by(owner: type) -> set[str]:
    """Return the names that the methods of a class assign on `self`."""
    source = ast.parse(inspect.getsource(owner))
    return {
        node.attr
        for node in ast.walk(source)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


@pytest.mark.parametrize("package", ["uvicorn", "httptools"])
def test_the_installed_version_is_the_pinned_one(package: str) -> None:
    locked = (ROOT / "requirements" / "runtime.txt").read_text()
    assert f"\n{package}=={version(package)} " in locked
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[\[=<>~! ]", line)[0] for line in project["dependencies"]]
    bounds = [line.partition("==")[2] for line in project["dependencies"]]
    assert dict(zip(names, bounds, strict=True)).get(package) == version(package)


@pytest.mark.parametrize("name", uvicorn_internals.PROTOCOL_METHODS)
def test_protocol_methods_have_the_expected_parameters(name: str) -> None:
    method = vars(HttpToolsProtocol)[name]
    assert not inspect.iscoroutinefunction(method)
    expected = uvicorn_internals.PROTOCOL_METHODS[name]
    assert tuple(inspect.signature(method).parameters) == expected


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (HttpToolsProtocol, uvicorn_internals.PROTOCOL_ATTRIBUTES),
        (RequestResponseCycle, uvicorn_internals.CYCLE_ATTRIBUTES),
    ],
)
def test_classes_set_the_expected_attributes(owner: type, names: tuple[str, ...]) -> None:
    assert set(names) - attributes_set_by(owner) == set()


def test_server_state_and_flow_control_have_the_expected_attributes() -> None:
    for name in uvicorn_internals.SERVER_STATE_ATTRIBUTES:
        assert hasattr(ServerState(), name)
    flow = FlowControl(asyncio.Transport())
    for name in uvicorn_internals.FLOW_ATTRIBUTES:
        assert hasattr(flow, name)
    assert hasattr(_types, "ASGI3Application")


def test_the_parser_has_the_expected_methods() -> None:
    for name in uvicorn_internals.PARSER_METHODS:
        assert callable(getattr(httptools.HttpRequestParser, name))
    parser = httptools.HttpRequestParser(object())
    parser.set_dangerous_leniencies(lenient_data_after_close=True)


def test_a_parser_error_keeps_the_exception_of_a_callback() -> None:
    class Failing:
        def on_url(self, _url: bytes) -> None:
            raise ValueError("ours")

    with pytest.raises(httptools.HttpParserError) as caught:
        httptools.HttpRequestParser(Failing()).feed_data(b"GET / HTTP/1.1\r\n\r\n")
    assert isinstance(caught.value.__context__, ValueError)


def test_an_upgrade_is_raised_with_the_offset_of_the_rest() -> None:
    head = b"POST / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n\r\n"
    parser = httptools.HttpRequestParser(object())
    with pytest.raises(httptools.HttpParserUpgrade) as caught:
        parser.feed_data(head + b"body")
    assert caught.value.args[0] == len(head)
    assert parser.should_upgrade()


def test_headers_and_body_are_written_separately_by_one_cycle() -> None:
    """Joined writes assume that the first write of a response is all of its headers."""
    written: list[bytes] = []

    class Transport(asyncio.Transport):
        def write(self, data: Any) -> None:
            written.append(bytes(data))

    async def send() -> None:
        cycle: Any = object.__new__(RequestResponseCycle)
        transport = Transport()
        vars(cycle).update(
            scope={"method": "GET"},
            transport=transport,
            flow=FlowControl(transport),
            access_log=False,
            default_headers=[],
            message_event=asyncio.Event(),
            on_response=lambda: None,
            disconnected=False,
            keep_alive=True,
            response_started=False,
            response_complete=False,
            chunked_encoding=None,
            expected_content_length=0,
        )
        headers = [(b"content-length", b"4")]
        await cycle.send({"type": "http.response.start", "status": 200, "headers": headers})
        await cycle.send({"type": "http.response.body", "body": b"body"})

    asyncio.run(send())
    assert written == [b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n", b"body"]


@pytest.mark.parametrize("module", MIXINS)
def test_every_overridden_or_used_part_is_listed(module: ModuleType) -> None:
    """A part of uvicorn's protocol that a mixin uses must be in `uvicorn_internals`."""
    source = ast.parse(inspect.getsource(module))
    used = {node.attr for node in ast.walk(source) if isinstance(node, ast.Attribute)}
    used |= {node.name for node in ast.walk(source) if isinstance(node, ast.FunctionDef)}
    of_uvicorn = attributes_set_by(HttpToolsProtocol) | {
        name for name, value in vars(HttpToolsProtocol).items() if inspect.isfunction(value)
    }
    listed = {*uvicorn_internals.PROTOCOL_METHODS, *uvicorn_internals.PROTOCOL_ATTRIBUTES}
    # Names that uvicorn's protocol shares with other classes used here.
    shared = {"scope", "app", "__init__"}
    assert used & of_uvicorn - listed - shared == set()


def test_our_protocol_is_uvicorns() -> None:
    assert issubclass(ServerProtocol, HttpToolsProtocol)
    assert uvicorn.__version__ == version("uvicorn")
