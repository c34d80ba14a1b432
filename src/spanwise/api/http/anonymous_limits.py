"""Limits on what a request may cost before its caller is known: at most 256 KiB of memory.

A head of the largest size is held twice, as bytes and as values cut from them; beside it there is
one read of the body, which waits in the transport until somebody asks for it.
"""

MAX_HEAD_BYTES = 65_536
MAX_HEADERS = 128
# The address is copied into path, query and parameters, so it may be a part of the head only.
MAX_URL_BYTES = 16_384
MAX_PARAMETERS = 256
# Bodies of routes without authentication. Parsed JSON takes up to 24 times its size.
MAX_BODY_BYTES = 8_192
# A body waits in the kernel until somebody asks for it, but for two reads.
READ_BYTES = 65_536
# Requests that a client sends ahead on one connection, each of which has its own state.
MAX_PIPELINED = 32
# A head, or a body that is read before the caller is known, must have arrived after this time.
REQUEST_SECONDS = 30.0
