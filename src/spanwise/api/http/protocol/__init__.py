"""uvicorn's HTTP protocol, extended by three mixins; `server_protocol` puts them together.

`request_limits`: bounds on headers, time and pipelining; an envelope for invalid HTTP; no upgrades.
`fast_path_dispatch`: some requests are answered without starting the ASGI application.
`joined_writes`: the headers and the body of a response are sent with one system call.

All of them override private parts of uvicorn, which `uvicorn_internals` lists: its version is
pinned, and `tests/unit/api/http/protocol/test_uvicorn_internals.py` fails when one of these parts
changes.
"""
