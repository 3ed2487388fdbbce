"""The reference pages of the site, made from the code: settings, command line, Python, exit codes."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer

import travas
from travas.cli.main import CODES, app
from travas.settings.table import BY_NAME, SECTIONS, SETTINGS

GENERATED = "<!-- Made from the code by docs/site/reference_pages.py. -->\n"
TOPICS = {
    "functions": ("Functions", "What most programs call."),
    "mechanisms": ("Mechanisms", "What is released, and what it costs."),
    "releases": ("Releases", "The public results: variants, synthetic logs and process maps."),
    "reading": ("Reading", "From events to variants."),
    "privacy": ("Guarantees and noise", "What decides privacy, and the parameters that it takes."),
    "budgets": ("Budgets and policies", "What several releases cost together."),
    "evaluation": ("Evaluation", "Confidential: it reads the original log."),
    "errors": ("Errors", "One tree of exceptions."),
}
_PACKAGES = {
    "mechanisms": "mechanisms",
    "log.options": "mechanisms",
    "log": "reading",
    "synthesis": "releases",
    "releases": "releases",
    "pipeline": "releases",
    "request": "releases",
    "outputs": "releases",
    "verification": "releases",
    "sources": "reading",
    "trusted": "privacy",
    "search": "privacy",
    "budget": "budgets",
    "evaluation": "evaluation",
    "errors": "errors",
}
"""The topic of a public class, by the longest of these modules that contains it."""


@cache
def reference_pages() -> dict[str, str]:
    """Return the text of every generated page by its path."""
    pages = {
        "reference/command-line.md": command_line(),
        "reference/settings.md": settings(),
        "reference/exit-codes.md": exit_codes(),
        "reference/python.md": python_names(),
        "reference/layout.md": layout(),
    }
    return pages | {f"reference/python-{topic}.md": python_topic(topic) for topic in TOPICS}


def command_line() -> str:
    """Return the page of all commands with their arguments and options."""
    root: Any = typer.main.get_command(app)
    lines = ["# Command line", "", GENERATED, f"{root.help} `travas COMMAND --help` prints the same.", ""]
    lines += ["| command | what it does |", "|---|---|"]
    commands = list(_commands("travas", root))
    lines += [f"| [`{name}`](#{_anchor(name)}) | {_cell(_first(command.help))} |" for name, command in commands]
    for name, command in commands:
        lines += ["", f"## {name} {{ #{_anchor(name)} }}", "", *_command(name, command)]
    return "\n".join(lines) + "\n"


def _commands(prefix: str, group: Any) -> Iterator[tuple[str, Any]]:
    for name, command in sorted(group.commands.items()):
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from _commands(f"{prefix} {name}", command)
        else:
            yield f"{prefix} {name}", command


def _command(name: str, command: Any) -> Iterator[str]:
    paragraphs = command.help.split("\n\n")
    for paragraph in paragraphs:
        example = paragraph.partition("Example: ")
        yield from ["", "```text", example[2], "```"] if example[1] else ["", _plain(paragraph)]
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    shown = " ".join(parameter.metavar or parameter.name.upper() for parameter in arguments)
    yield from ["", f"Usage: `{name}{' ' + shown if shown else ''} [OPTIONS]`", ""]
    yield from _table(arguments, lambda parameter: parameter.metavar or parameter.name.upper())
    own = [option for option in options if option.name not in BY_NAME]
    stated = [f"`{option.opts[0]}`" for option in options if option.name in BY_NAME]
    yield from _table(own, _flags)
    if stated:
        yield from [f"Settings, explained in [settings](settings.md): {', '.join(stated)}.", ""]


def _table(parameters: list[Any], name: Any) -> Iterator[str]:
    if not parameters:
        return
    yield from ["| | | default |", "|---|---|---|"]
    for parameter in parameters:
        default = parameter.default
        stated = "required" if parameter.required else "" if default in (None, False, "", ()) else f"`{default}`"
        yield f"| `{_cell(name(parameter))}` | {_cell(parameter.help or '')} | {stated} |"
    yield ""


def _flags(option: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar or option.name.upper()}"
    return ", ".join([*option.opts, *option.secondary_opts]) + value


def settings() -> str:
    """Return the page of all settings."""
    lines = ["# Settings", "", GENERATED, "Every setting has one name everywhere:"]
    lines += ["`--max-cases 3` or `--set max_cases=3` on the command line, `max_cases = 3` in `travas.toml`,"]
    lines += ["`max_cases=3` in Python.", ""]
    lines += ["Numbers are exact; a list has a flag for each of its items, or is a list of text in the file.", ""]
    lines += [
        "Settings with * may be chosen by looking at the log, and the doctor proposes them; no other one may.",
        "",
    ]
    for section, about in SECTIONS.items():
        lines += [
            f"## [{section}]",
            "",
            _linked(about),
            "",
            "| setting | meaning | values | example |",
            "|---|---|---|---|",
        ]
        for each in SETTINGS:
            if each.section == section:
                values = ", ".join(f"`{choice}`" for choice in each.choices) or each.kind
                example = f"{each.name} = {json.dumps(each.parse(each.example), ensure_ascii=False)}"
                mark = "*" if each.by_looking else ""
                lines.append(f"| `{each.name}`{mark} | {_cell(each.help)} | {values} | `{_cell(example)}` |")
        lines.append("")
    return "\n".join(lines)


def exit_codes() -> str:
    """Return the page of the exit codes."""
    lines = ["# Exit codes", "", GENERATED, "| code | meaning |", "|--:|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in CODES.items()]
    lines += ["", "What to do, and `--json`: [every month](../every-month.md#without-a-terminal)."]
    return "\n".join(lines) + "\n"


def layout() -> str:
    """Return the page of the layers, packages and modules."""
    package = Path(travas.__file__).parent
    settings = tomllib.loads((package.parents[1] / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    lines = ["# Layout", "", GENERATED, "Imports point downwards only; `make lint` checks it.", ""]
    lines += [f"1. {', '.join(f'`{name}`' for name in layer.split(' | '))}" for layer in layers]
    for folder in sorted(path.parent for path in package.rglob("__init__.py")):
        name = folder.relative_to(package.parent).as_posix()
        lines += ["", f"## src/{name}", "", _docstring(folder / "__init__.py"), "", "| module | |", "|---|---|"]
        modules = [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]
        lines += [f"| `{path.name}` | {_cell(_docstring(path))} |" for path in modules]
    return "\n".join(lines) + "\n"


def _docstring(path: Path) -> str:
    """Return the first paragraph of a module's docstring."""
    return _first(ast.get_docstring(ast.parse(path.read_text())) or "")


def python_names() -> str:
    """Return the list of all public names."""
    lines = ["# Python", "", GENERATED, "`import travas` has these names, and no others are public.", ""]
    for topic, (title, about) in TOPICS.items():
        lines += [f"## {title}", "", about, "", "| name | |", "|---|---|"]
        for name in names_of(topic):
            summary = _cell(_first(getattr(travas, name).__doc__ or "")) if _documented(name) else ""
            lines.append(f"| [`{name}`](python-{topic}.md#{module_of(name)}.{name}) | {summary} |")
        lines.append("")
    return "\n".join(lines)


def python_topic(topic: str) -> str:
    """Return the page of one topic: signatures and docstrings, which mkdocstrings fills in."""
    title, about = TOPICS[topic]
    lines = [f"# {title}", "", GENERATED, about, ""]
    for name in names_of(topic):
        lines.append(f"::: {module_of(name)}.{name}")
        if inherited := ", ".join(inherited_members(name)):
            lines += ["    options:", f"      inherited_members: [{inherited}]"]
        lines.append("")
    return "\n".join(lines)


def inherited_members(name: str) -> list[str]:
    """Return what a public class has from bases that are not public, unless a page of a public base has it."""
    thing = getattr(travas, name)
    bases = [base for base in getattr(thing, "__mro__", ())[1:] if base.__module__.startswith("travas.")]
    if any(base.__name__ in travas.__all__ for base in bases):
        return []
    return [member for base in bases for member in vars(base) if not member.startswith("_")]


def names_of(topic: str) -> list[str]:
    """Return the public names of a topic."""
    return [name for name in travas.__all__ if name != "__version__" and topic_of(name) == topic]


def topic_of(name: str) -> str:
    """Return the topic of a public name."""
    if name[0].islower():
        return "functions"
    module = module_of(name).removeprefix("travas.")
    while module and module not in _PACKAGES:
        module = module.rpartition(".")[0]
    return _PACKAGES[module]  # fails for a module without a topic


def module_of(name: str) -> str:
    """Return the module that defines a public name."""
    return f"travas.{travas._HOME[name]}"


def _documented(name: str) -> bool:
    """Return whether a name has its own docstring: an alias of a type has that of the type."""
    thing = getattr(travas, name)
    return getattr(thing, "__name__", None) == name and bool(thing.__doc__)


def _first(text: str) -> str:
    return " ".join(text.strip().partition("\n\n")[0].split())


def _plain(text: str) -> str:
    return re.sub(r"\[/?(?:bold|dim|italic)\]", "", text)


def _cell(text: str) -> str:
    return _linked(_plain(" ".join(text.split()))).replace("|", "\\|")


def _linked(text: str) -> str:
    """Turn the `travas docs PAGE` of messages into links, and links of docs/ into links of docs/reference."""
    text = re.sub(r"travas docs ([\w/-]+)", r"[\1](\1.md)", text)
    return re.sub(r"\]\((?=[\w/-]+\.md)", "](../", text)


def _anchor(name: str) -> str:
    return name.replace(" ", "-")
