"""The options of a project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import ParameterError
from ..project.project_options import OPTIONS, ProjectOption
from .options import with_options

ProjectPath = Annotated[Path, typer.Option("--project", help="The project file.", metavar="FILE")]


def with_project_options(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the `flags` parameter of a command with the options of a project."""
    options = [option for option in OPTIONS if option.name not in left_out]

    def kind(option: ProjectOption) -> Any:
        about = f"{option.about} Variable: {option.variable}."
        shown = typer.Option(option.flag, help=about, metavar="TEXT", rich_help_panel=f"Section {option.section}")
        return Annotated[(list[str] if option.is_list else str) | None, shown]

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        given = {option.name: values.pop(option.name) for option in options}
        stated = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
            if value is not None
        }
        for name, value in stated.items():
            if "" in (value if isinstance(value, tuple) else (value,)):
                raise ParameterError(f"{name} is set to empty text; set a value, or remove it", field=name)
        return {"flags": stated}

    kinds = {option.name: (kind(option), None) for option in options}
    return lambda command: with_options(command, "flags", kinds, collect)
