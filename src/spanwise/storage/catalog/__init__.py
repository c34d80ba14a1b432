"""The catalog: accounts, keys, agents, alerts and all other mutable records.

One module per table or group of tables; all functions take an open transaction. A write commits as
a whole or not at all. SQLite and PostgreSQL behave the same: times are UTC, and the same tests run
on both. `Catalog` opens transactions.
"""

from spanwise.storage.catalog.database import Catalog, Transaction

__all__ = ["Catalog", "Transaction"]
