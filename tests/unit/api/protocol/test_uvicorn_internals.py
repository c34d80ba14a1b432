"""The parts of uvicorn and httptools that our protocol relies on are still there.

When this fails after an upgrade: compare `uvicorn/protocols/http/httptools_impl.py` of the old and
the new version, adapt `spanwise/api/protocol`, and only then raise the version in
`pyproject.toml`. How they behave is tested in `tests/api/http` and `tests/api/test_fast_path.py`.
"""

import ast
import asyncio
import inspect

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from spanwise.api.protocol import uvicorn_internals as used


def attributes_set_by(owner: type) -> set[str]:
    """Return the names that the methods of a class assign on `self`."""
    nodes = ast.walk(ast.parse(inspect.getsource(owner)))
    stores = (n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return {n.attr for n in stores if isinstance(n.value, ast.Name) and n.value.id == "self"}


def test_methods_have_the_expected_parameters() -> None:
    found = {
        name: tuple(inspect.signature(vars(HttpToolsProtocol)[name]).parameters)
        for name in used.PROTOCOL_METHODS
    }
    assert found == used.PROTOCOL_METHODS


def test_attributes_and_the_methods_of_the_parser_exist() -> None:
    assert set(used.PROTOCOL_ATTRIBUTES) <= attributes_set_by(HttpToolsProtocol)
    assert set(used.CYCLE_ATTRIBUTES) <= attributes_set_by(RequestResponseCycle)
    assert set(used.SERVER_STATE_ATTRIBUTES) <= {*dir(ServerState())}
    assert set(used.FLOW_ATTRIBUTES) <= {*dir(FlowControl(asyncio.Transport()))}
    assert set(used.PARSER_METHODS) <= {*dir(httptools.HttpRequestParser)}
