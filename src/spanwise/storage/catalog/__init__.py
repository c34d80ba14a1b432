"""Accounts, keys and everything else that changes: SQLite by default, PostgreSQL when outgrown."""

from spanwise.storage.catalog.database import Catalog, Transaction

__all__ = ["Catalog", "Transaction"]
