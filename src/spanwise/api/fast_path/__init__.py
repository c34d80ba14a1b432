"""Fast paths: serve frequent requests inside the HTTP protocol, without middleware and routing.

The key, the experiment and the rate limit are read from memory; only the journal is waited for.
A fast path responds only with 200, with the same headers and body as the normal request path.
It never rejects: a request that it cannot handle takes the normal path, and is counted once.
"""
