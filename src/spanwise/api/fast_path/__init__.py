"""Fast paths: frequent requests answered inside the HTTP protocol, without middleware and routing.

A fast path takes a request only when its answer equals that of the normal request path; it never
refuses one.
"""
