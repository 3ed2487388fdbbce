"""The options of commands: those of settings are made from the table, those of a run are declared here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from ..errors import ParameterError, shown
from ..settings.table import SETTINGS, Section, Setting, setting
from .console import silence

if TYPE_CHECKING:
    from ..outputs.atomic import Existing
    from ..settings.project import Project


def opt(about: str, metavar: str | None = None, *names: str, hidden: bool = False) -> Any:
    """An option that belongs to a command alone, by its help and what stands for its value there."""
    return typer.Option(*names, help=about, metavar=metavar, hidden=hidden)


LogArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="LOG",
        help="Event log: .xes, .csv, .tsv or .txt (also .gz, .zst), .xlsx, .parquet, .feather or .arrow; .zip with one log; "
        "a folder or 'glob' of files of one format; - for standard input with --format; "
        "a DuckDB or SQLite file; or a URL: postgresql://HOST/DB with --table or --query; spark: (travas docs engines). "
        "Default: that of the project.",
        show_default=False,
    ),
]
Force = Annotated[bool, opt("Overwrite existing output.", None, "--force")]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="Print nothing but errors, and JSON with --json.", callback=silence, hidden=True)
]
Confidential = Annotated[
    bool,
    opt(
        "Also print how much of the original log was released, on standard error. Do not publish it.",
        None,
        "--confidential",
        hidden=True,
    ),
]
AsJson = Annotated[bool, opt("Print the result, or the error, as one JSON object.", None, "--json")]
HiddenJson = Annotated[bool, opt("Print the result, or the error, as one JSON object.", None, "--json", hidden=True)]
Changes = Annotated[
    list[str] | None, opt("Set any setting: travas docs reference/settings; repeatable.", "KEY=VALUE", "--set")
]
ReportFile = Annotated[
    Path | None, typer.Argument(metavar="[OTHER]", help="The other file, if it is somewhere else.", show_default=False)
]

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
    """Replace the parameter `project` of a command by options of settings, `--set` and `--project`.

    Those that are not shown first are in the help of `--help-all` only.
    """
    settings, first = {name: setting(name) for name in dict.fromkeys((*shown_first, *names))}, set(shown_first)

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapped(**values: Any) -> None:
            flags = {name: values.pop(name) for name in settings}
            changed, project_file = values.pop("changed", None), values.pop("project_file", None)
            values.pop("help_all", None)
            command(**values, project=_project(project_file, flags, changed or (), tuple(settings)))

        signature = inspect.signature(command, eval_str=True, locals={"Project": Any})  # imported when it is called
        own = [each for name, each in signature.parameters.items() if name != "project"]
        more = {name: _option(each, name not in first) for name, each in settings.items()}
        if file:
            more |= {"project_file": _PROJECT, "changed": Changes}
        if len(first) < len(settings):
            more["help_all"] = _HELP_ALL
        keyword = inspect.Parameter.KEYWORD_ONLY
        added = [inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in more.items()]
        wrapped.__signature__ = inspect.Signature([p.replace(kind=keyword) for p in own] + added)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {p.name: p.annotation for p in own + added}
        return wrapped

    return add


def _option(row: Setting, hidden: bool) -> Any:
    """The option of a setting. Its values are checked by the row, whatever it is."""

    def complete(incomplete: str) -> list[str]:
        from ..mechanisms import MECHANISMS

        return [value for value in row.choices or MECHANISMS if value.startswith(incomplete)]

    return Annotated[
        (list[str] if row.kind == "list" else str) | None,
        typer.Option(
            *((row.flag, "-o") if row.name == "output" else (row.flag,)),
            help=row.help,
            metavar="|".join(row.choices) or _KINDS.get(row.kind, "TEXT"),
            hidden=hidden,
            rich_help_panel=row.section.capitalize() if hidden else None,
            autocompletion=complete if row.choices or row.name == "mechanism" else None,
        ),
    ]


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        for parameter in context.command.params:
            if isinstance(parameter, TyperOption):
                parameter.hidden = False
        typer.echo(context.get_help())
        raise typer.Exit


_PROJECT = Annotated[Path | None, opt("Take settings from this travas.toml.", "FILE", "--project")]
_HELP_ALL = Annotated[bool, typer.Option("--help-all", help="Show all options.", is_eager=True, callback=_show_all)]


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


def _project(file: Path | None, flags: Mapping[str, Any], texts: Iterable[str], available: tuple[str, ...]) -> Project:
    from ..settings.project import Project

    project = Project() if file is None else Project.load(file)
    return here(
        project,
        {**{name: value for name, value in flags.items() if value not in (None, [], ())}, **changes(texts, available)},
    )


def here(project: Project, stated: Mapping[str, Any]) -> Project:
    """Return a project with values of the command line, whose paths start from the current folder."""
    from ..sources.files import url_scheme

    changed = dict(stated)
    for name, value in stated.items():
        is_path = setting(name).kind == "file" and project.home != Path()
        if is_path and isinstance(value, str) and value not in ("-", "default") and not url_scheme(value):
            changed[name] = str(Path(value).absolute())
    return project.with_values(changed)


class _WithoutFlagTypes:
    """Shows flags, `--help` included, without `<bool>`."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in parameters:
            if isinstance(each, TyperOption) and each.is_flag and each.metavar is None:
                each.metavar = ""
        return parameters


class HelpfulCommand(_WithoutFlagTypes, TyperCommand):
    """A command."""


class HelpfulGroup(_WithoutFlagTypes, TyperGroup):
    """A group of commands."""
