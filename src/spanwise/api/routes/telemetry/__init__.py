"""Routes for ingest, traces, logs, signals, models and analytics.

A `2xx` for ingested data means that it is in the journal on disk. Reads contain all data that was
acknowledged before, unless the request accepts an older response (`Cache-Control: max-age`).
"""
