"""What there is to say about the schema of a store."""

from enum import StrEnum


class SchemaState(StrEnum):
    """How old a store's schema is, in the words that an operator reads."""

    ABSENT = "nothing there yet: the first start makes it"
    OUTDATED = "a migration is due: the next start runs it, or `spanwise migrate`"
    CURRENT = "schema up to date"
