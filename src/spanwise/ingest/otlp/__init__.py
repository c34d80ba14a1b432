"""OTLP decoding and validation: protobuf and JSON to rows the engine reads."""
