"""OTLP responses over HTTP and the gRPC server."""
