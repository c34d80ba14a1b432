"""Routes for ingest, traces, sessions, logs, signals, metrics, models, failures, changes and
analytics.

A `2xx` for ingested data means that it is in the journal on disk. Reads include all data
acknowledged before, unless the request accepts older data (`Cache-Control: max-age`).
"""
