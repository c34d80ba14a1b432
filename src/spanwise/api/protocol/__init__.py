"""uvicorn's HTTP protocol, extended by two mixins; `server_protocol` puts them together.

`request_limits`: bounds on headers, time and pipelining; an envelope for invalid HTTP; no upgrades.
`fast_path_dispatch`: serves exports without starting the ASGI application.

Both override private parts of uvicorn, which `uvicorn_internals` lists: its version is
pinned, and `tests/unit/api/protocol/test_uvicorn_internals.py` fails when one of these parts
changes.
"""
