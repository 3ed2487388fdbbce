"""The table of settings: one row of settings.toml for everything that a user can set about a release.

Flags of the command line, keys of `travas.toml`, fields of the web app and the reference are made from these rows, and
keyword arguments in Python and the fields of errors have the same names. What an option of a mechanism may be, and its
default, is decided by the class of the mechanism.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.resources import files
from typing import Any, Literal

import attrs

from ..errors import ParameterError, one_of, shown
from ..trusted.numbers import exact, typed_whole_number

Section = Literal["log", "reading", "privacy", "mechanism", "rules", "output", "account", "period"]
Kind = Literal["text", "number", "whole number", "choice", "list", "file", "list or file"]
"""What a value is. A number is exact, and stays the text that was typed; a list is one of texts; text may be a file with one."""

Value = str | int | tuple[str, ...]
"""The value of a setting: a tuple for a list, an int for a whole number, else text."""


@attrs.frozen
class Setting:
    """One setting.

    Attributes:
        section: Its table in `travas.toml`.
        name: Its key, its keyword argument, and, as `--name`, its flag.
        kind: What its value is.
        example: A value.
        help: One sentence, with the default.
        choices: The possible values, if they are few.
        use: Whether it is shown first, or only when asked for.
    """

    section: Section
    name: str
    kind: Kind = attrs.field(validator=one_of(Kind))
    example: str
    help: str
    choices: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    use: Literal["common", "rare"] = "rare"

    @property
    def by_looking(self) -> bool:
        """Whether it may be chosen by looking at the log. The values of others decide about privacy."""
        from ..sources.doctor.diagnosis import PROPOSED

        return self.name in ("log", *PROPOSED)

    @property
    def flag(self) -> str:
        """The flag of the command line."""
        return "--" + self.name.replace("_", "-")

    def parse(self, value: object) -> Value:
        """Return the value of a flag, of a key of a file or of a field of a form.

        Args:
            value: Text, a whole number, or a list of text.

        Returns:
            The value.

        Raises:
            ParameterError: It is not a value of this setting.
        """
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if self.kind == "list" or (self.kind == "list or file" and not isinstance(value, str)):
            return self._list(value)
        if not isinstance(value, str):
            raise ParameterError(f"{self.name} is {shown(value)}; it must be text or a number", field=self.name)
        if not value:
            raise ParameterError(f"{self.name} is empty; set a value, or remove {self.name}", field=self.name)
        if self.kind == "whole number":
            return typed_whole_number(value, self.name)
        if self.kind == "number":
            exact(value, self.name)
        if self.kind == "choice" and value not in self.choices:
            raise ParameterError(
                f"{self.name} is {shown(value)}; use one of {', '.join(self.choices)}", field=self.name
            )
        return value

    def _list(self, value: object) -> tuple[str, ...]:
        items = (value,) if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise ParameterError(f"{self.name} is {shown(value)}; it must be a list of text", field=self.name)
        if "" in items:
            raise ParameterError(f"{self.name} has empty text; set a value, or remove it", field=self.name)
        return tuple(items)


_ROWS: dict[Any, Any] = tomllib.loads(files(__package__).joinpath("settings.toml").read_text(encoding="utf-8"))

SECTIONS: Mapping[Section, str] = _ROWS.pop("sections")
"""The tables of travas.toml, and what they are about."""

SETTINGS = tuple(Setting(section, name, **row) for section, rows in _ROWS.items() for name, row in rows.items())
"""All settings, in the order of `travas.toml`."""

BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


def setting(name: str) -> Setting:
    """Return the setting of this name; ParameterError with a suggestion if there is none."""
    name = name.replace("-", "_")
    if name in BY_NAME:
        return BY_NAME[name]
    near = get_close_matches(name, BY_NAME, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "all settings: travas anonymize --help-all"
    raise ParameterError(f"there is no setting {shown(name)}; {hint}", field="set")
