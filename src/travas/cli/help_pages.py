"""Commands and groups whose help names no type for flags: a flag has no value."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption


def _without_flag_types(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class HelpfulCommand(TyperCommand):
    """A command whose flags, `--help` included, are shown without `<bool>`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters with the help option."""
        return _without_flag_types(super().get_params(ctx))


class HelpfulGroup(TyperGroup):
    """A group of commands whose flags are shown without `<bool>`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters with the help option."""
        return _without_flag_types(super().get_params(ctx))
