"""Limits on a request whose caller is not authenticated yet: at most 256 KiB of memory.

Headers of the maximum size are held twice, raw and parsed. In addition, up to two reads of the body
are buffered until a handler reads it.
"""

MAX_HEAD_BYTES = 65_536
MAX_HEADERS = 128
# Bytes of a body that are not content: chunk extensions and trailers.
MAX_FRAMING_BYTES = 16_384
# The URL is copied into path, query and parameters, so it gets less than the headers.
MAX_URL_BYTES = 16_384
MAX_PARAMETERS = 256
# Bodies of routes without authentication. Parsed JSON takes up to 24 times its size.
MAX_BODY_BYTES = 8_192
# Apart from two reads of this size, a body stays in the kernel until a handler reads it.
READ_BYTES = 65_536
# Pipelined requests that are parsed ahead per connection; each one has its own state.
MAX_PIPELINED = 32
# Time for the headers to arrive, and for a body that is read before authentication.
REQUEST_SECONDS = 30.0
