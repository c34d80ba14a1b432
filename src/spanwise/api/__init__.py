"""The HTTP and gRPC interfaces: decode a request, check the caller, call a service, respond.

Every route states in its signature who may call it, and passes on the caller's workspace.
Every JSON response has the envelope of `http/envelope.py`, except OTLP, OFREP and downloads.
Nothing here knows SQL.
"""
