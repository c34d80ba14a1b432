"""What surrounds every HTTP request: protocol, middleware, limits, envelope, errors, static files.

Before the caller is known, a request costs at most 256 KiB of memory (`anonymous_limits`).
"""
