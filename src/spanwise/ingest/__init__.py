"""OTLP and JSON in; owns the promise that a 2xx answer means stored."""
