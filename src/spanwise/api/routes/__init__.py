"""The routes: one module per resource, each with a `router`.

A route parses its input, calls one service (or storage function) with the caller's workspace, and
wraps the result in the envelope. Function names are the operation ids of the OpenAPI document.
"""
