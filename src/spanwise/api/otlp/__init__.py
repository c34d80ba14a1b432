"""OTLP on the wire: responses, and the gRPC server.

HTTP and gRPC send the same messages for the same outcome: an export response when the export is
stored (with `partial_success` if rows were rejected), `google.rpc.Status` for every error.
Errors that a retry can fix are 429 and 503 with a delay; invalid data is never one of them.
"""
