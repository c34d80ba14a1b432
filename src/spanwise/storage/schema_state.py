"""The schema state of a store, as shown to operators."""

from enum import StrEnum

# Until 0.1 is released, the schema has one baseline, and no migration leads to it.
DEVELOPMENT_STORE = (
    "it was written by an early development version: run `spanwise export` with that version, "
    "then `spanwise import` with this one into a new data folder"
)


class SchemaState(StrEnum):
    """Whether a store has a schema, and whether it is current."""

    ABSENT = "no schema yet: the first start creates it"
    OUTDATED = "a migration is due: run `spanwise migrate`, or start the service"
    CURRENT = "schema up to date"
