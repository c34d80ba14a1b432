"""Fast paths: frequent requests answered inside the HTTP protocol, without middleware and routing.

A fast path waits for no store but the journal: key, experiment and rate limit are in memory.
Its only response is 200, with the headers and the body that the normal request path would send.
It never rejects: whatever it cannot answer goes to the normal request path, counted once.
"""
