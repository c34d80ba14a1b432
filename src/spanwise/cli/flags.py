"""Adds one command-line flag per setting to a command."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from spanwise.settings import Settings, load_settings


def new_command() -> typer.Typer:
    """Return the Typer app of a command module; brackets in its help are not markup."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that Typer offers one flag per setting; it receives the merged settings.

    Other parameters of the command become normal flags.
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
    # Other types are passed as text, which Settings parses and validates.
    return (annotation if annotation in (int, float, bool) else str) | None
