"""Spans, logs and signals as plain JSON, validated and converted to OTLP."""
