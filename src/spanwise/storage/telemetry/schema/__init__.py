"""The telemetry schema: numbered SQL files and views generated from the conventions.

Until 0.1 is released, changes edit the baseline, 0001. Migrations run forward only, in order, once
each, under the catalog's migration lock. Every statement is idempotent, because a killed migration
is repeated from the start of its file. The entry point is `apply_schema`.
"""

from spanwise.storage.telemetry.schema.migrate import apply_schema

__all__ = ["apply_schema"]
