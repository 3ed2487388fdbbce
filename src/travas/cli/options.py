"""The options of commands: those of settings are made from the table, those of a run are declared here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from ..errors import ParameterError, shown
from ..settings.table import SETTINGS, Section, Setting, setting

if TYPE_CHECKING:
    from ..outputs.atomic import Existing
    from ..settings.project import Project


def arg(metavar: str, about: str, default: Any = ...) -> Any:
    """An argument of a command."""
    return typer.Argument(default, metavar=metavar, help=about, show_default=False)


def opt(about: str, metavar: str | None = None, *names: str, default: Any = None, hidden: bool = False) -> Any:
    """An option that belongs to a command alone, by its help and what stands for its value there."""
    return typer.Option(default, *names, help=about, metavar=metavar, hidden=hidden)


def flag(about: str, name: str, hidden: bool = False, callback: Any = None) -> Any:
    """An option without a value. One with a callback answers before others are looked at."""
    return typer.Option(False, name, help=about, hidden=hidden, callback=callback, is_eager=bool(callback))


LOG = arg(
    "LOG",
    "Event log: XES, CSV, Excel, Parquet, Feather or Arrow, also .gz, .zst or .zip; a folder or 'glob' of such files; - for "
    "standard input with --format; a DuckDB or SQLite file; postgresql://HOST/DB with --table or --query, or spark: (travas "
    "docs engines). Default: that of the project.",
    None,
)
FORCE = flag("Overwrite existing output.", "--force")
QUIET = flag("Print nothing but errors, and JSON with --json.", "--quiet", hidden=True)
_JSON = "Print the result, or the error, as one JSON object."
AS_JSON, HIDDEN_JSON = flag(_JSON, "--json"), flag(_JSON, "--json", hidden=True)
CONFIDENTIALLY = flag("Also print the size of the log, on standard error.", "--confidential", hidden=True)
PROJECT = opt("Take settings from this travas.toml.", "FILE", "--project")
SET = opt("Set any setting of --help-all; repeatable.", "KEY=VALUE", "--set")

_KINDS = {"number": "NUMBER", "whole number": "NUMBER", "file": "FILE", "list or file": "FILE"}


def names_of(*sections: Section, without: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the settings of some sections, but for `log`, which is an argument."""
    return tuple(each.name for each in SETTINGS if each.section in sections and each.name not in ("log", *without))


READING = names_of("log", "reading")
COLUMNS = ("case", "activity", "timestamp", "unit", "max_cases")


def existing(force: bool) -> Existing:
    """Return what `--force` means."""
    return "replace" if force else "fail"


def with_settings(
    names: Iterable[str], shown_first: Iterable[str] = (), file: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter `project` of a command by options of settings and, with a file, `--project`, `--set`, `--quiet`.

    Those that are not shown first are in the help of `--help-all` only. One that has the name of an option of the command
    can be set by `--set` alone.
    """
    names = dict.fromkeys((*shown_first, *names))

    def add(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True, locals={"Project": Any})  # imported when it is called
        own = [each.replace(kind=each.KEYWORD_ONLY) for name, each in signature.parameters.items() if name != "project"]
        flags = [name for name in names if name not in signature.parameters]
        own += [_option(setting(name), name not in shown_first) for name in flags]
        if file:
            own += [_parameter("project_file", Path | None, PROJECT), _parameter("changed", list[str] | None, SET)]
            own.append(_parameter("quiet", bool, QUIET))
        if not set(flags) <= set(shown_first):
            own.append(_parameter("help_all", bool, flag("Show all options.", "--help-all", callback=_show_all)))

        @functools.wraps(command)
        def wrapped(**values: Any) -> None:
            from ..settings.project import Project

            stated = {name: values.pop(name) for name in flags}
            changed, project_file = values.pop("changed", None), values.pop("project_file", None)
            for name in ("quiet", "help_all"):  # is_quiet, _show_all
                values.pop(name, None)
            stated = {name: value for name, value in stated.items() if value not in (None, [])}
            project = Project() if project_file is None else Project.load(project_file)
            command(**values, project=here(project, stated | changes(changed or (), names)))

        wrapped.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {each.name: each.annotation for each in own}
        return wrapped

    return add


def _option(row: Setting, hidden: bool) -> inspect.Parameter:
    """The option of a setting, or the argument LOG. Its values are checked by the row, whatever it is."""
    if row.name == "log":
        return _parameter(row.name, str | None, LOG)
    option = typer.Option(
        None,
        *((row.flag, "-o") if row.name == "output" else (row.flag,)),
        help=row.help,
        metavar="|".join(row.choices) or _KINDS.get(row.kind, "TEXT"),
        hidden=hidden,
        rich_help_panel=row.section.capitalize() if hidden else None,
    )
    return _parameter(row.name, (list[str] if row.kind == "list" else str) | None, option)


def _parameter(name: str, kind: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        for parameter in context.command.params:
            if isinstance(parameter, TyperOption):
                parameter.hidden = False
        typer.echo(context.get_help())
        raise typer.Exit


def changes(texts: Iterable[str], available: Iterable[str]) -> dict[str, Any]:
    """Parse KEY=VALUE of `--set`; several of a list are its items."""
    stated: dict[str, Any] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        row = setting(key.strip())
        if not sign:
            raise ParameterError(f"set is {shown(text)}; use KEY=VALUE", field="set")
        if row.name not in available:
            raise ParameterError(f"{row.name} is not used by this command; remove it", field="set")
        stated[row.name] = (*stated.get(row.name, ()), value.strip()) if row.kind == "list" else value.strip()
    return stated


def here(project: Project, stated: Mapping[str, Any]) -> Project:
    """Return a project with values of the command line, whose paths start from the current folder."""
    from ..settings.project import Project

    return project.with_values(Project().with_values(stated).moved(project.home).values)


class _WithoutFlagTypes:
    """Shows flags, `--help` included, without `<bool>`."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in parameters:
            if isinstance(each, TyperOption) and each.is_flag:
                each.metavar = ""
        return parameters


class HelpfulCommand(_WithoutFlagTypes, TyperCommand):
    """A command."""


class HelpfulGroup(_WithoutFlagTypes, TyperGroup):
    """A group of commands."""
