"""HTTP without its callers: paths, limits, headers, envelope, errors, cookie and dashboard.

Before its caller is authenticated, a request uses at most 256 KiB of memory (`anonymous_limits`).
Every response has a request id and security headers; every error has the envelope.
A request counts once against its rate limit, on the fast path and on the normal path.
"""
