"""The schema state of a store, as shown to operators."""

from enum import StrEnum


class SchemaState(StrEnum):
    """Whether a store has a schema, and whether it is current."""

    ABSENT = "nothing there yet: the first start makes it"
    OUTDATED = "a migration is due: the next start runs it, or `spanwise migrate`"
    CURRENT = "schema up to date"
