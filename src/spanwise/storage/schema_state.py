"""The schema state of a store, as shown to operators."""

from enum import StrEnum


class SchemaState(StrEnum):
    """Whether a store has a schema, and whether it is current."""

    ABSENT = "no schema yet: the first start creates it"
    OUTDATED = "a migration is due: run `spanwise migrate`, or start the service"
    CURRENT = "schema up to date"
