"""Gives a command one flag for every setting."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from spanwise.settings import Settings, load_settings


def new_command() -> typer.Typer:
    """Make the app of a command's module; brackets in its help are text, not markup."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that Typer sees a flag a setting; the command gets them all, merged.

    What the command takes beside the settings are flags of its own.
    """
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "settings"]

    def run(**flags: Any) -> None:  # noqa: ANN401 -- each flag has its own type
        given = {p.name: flags.pop(p.name) for p in own}
        command(load_settings(**flags), **given)

    parameters = [
        *own,
        *(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[
                    _flag_type(field.annotation), typer.Option(help=field.description)
                ],
            )
            for name, field in Settings.model_fields.items()
        ),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__doc__ = command.__doc__
    return run


def _flag_type(annotation: object) -> Any:  # noqa: ANN401 -- a type for Typer
    # Text, numbers and switches are all that a flag can be; Settings validates the rest.
    return (annotation if annotation in (int, float, bool) else str) | None
