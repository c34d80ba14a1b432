"""uvicorn's HTTP protocol, extended by three mixins; `server_protocol` puts them together.

`request_limits`: bounds on headers, time and pipelining; an envelope for invalid HTTP; no upgrades.
`fast_path_dispatch`: serves some requests without starting the ASGI application.
`joined_writes`: sends the headers and the body of a response with one system call.

All of them override private parts of uvicorn, which `uvicorn_internals` lists: its version is
pinned, and `tests/unit/api/http/protocol/test_uvicorn_internals.py` fails when one of these parts
changes.
"""
