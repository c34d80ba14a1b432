"""What every HTTP request passes: protocol, middleware, rate limits, envelope, errors, dashboard.

Before its caller is authenticated, a request uses at most 256 KiB of memory (`anonymous_limits`).
Every response has a request id and security headers; every error has the envelope.
A request is counted against its rate limit once, on whichever path.
"""
