"""Routes for ingest, traces, logs, signals, models and analytics."""
