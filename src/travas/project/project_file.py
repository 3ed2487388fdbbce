"""travas.toml: reading it, with flags before the environment before the file, and writing a commented one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..budget.policy import Policy, check_keys, load_toml
from ..errors import ParameterError, shown
from ..log.abstraction import read_activities
from ..mechanisms import from_description
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.registry import described_mechanism
from ..sources.log_location import url_scheme
from ..sources.period import Period
from ..sources.reading import Reading, parse_where
from ..trusted.guarantee import PrivacyUnit
from ..trusted.numbers import as_text, exact, typed_whole_number
from .project_options import BY_NAME, OPTIONS, SECTIONS, ProjectOption, Values

_READING = (
    "case", "timestamp", "timestamp_format", "order", "ties", "on_missing", "duplicate_cases", "lifecycle",
    "duplicate_events", "format", "sheet", "delimiter", "quote", "encoding", "abstraction", "unit", "table", "query",
)  # fmt: skip
_COST = ("epsilon", "delta", "share")
_MECHANISM = tuple(
    option.name for option in OPTIONS if option.section in ("privacy", "synthesis") and option.name not in _COST
)


@dataclass(frozen=True)
class Project:
    """A release project: the values of its options, and the folder that relative paths start from."""

    values: Values
    home: Path

    @classmethod
    def load(cls, path: Path, flags: Values) -> Project:
        """Read a project file."""
        stated = file_values(path)
        check_no_password(path, stated)
        variables = environment_values(os.environ)
        for name in ("ledger", "policy"):  # the same files as for all other commands
            if isinstance(text := variables.get(name), str) and text != "default":
                variables[name] = str(Path(text).absolute())
        return cls({**stated, **variables, **flags}, path.absolute().parent)

    def text(self, name: str) -> str | None:
        """Return the value of an option that is not a list; None if it is not set."""
        value = self.values.get(name)
        return value if value is None or isinstance(value, str) else value[0]

    def text_or(self, name: str, default: str) -> str:
        """Return the value of an option that is not a list, or a default."""
        return self.text(name) or default

    def items(self, name: str) -> tuple[str, ...]:
        """Return the values of an option that is a list."""
        value = self.values.get(name, ())
        return (value,) if isinstance(value, str) else tuple(value)

    def required(self, name: str) -> str:
        """Return the value of an option that must be set."""
        if not (value := self.text(name)):
            option = BY_NAME[name]
            raise ParameterError(
                f"{name} is not set; set {name} in [{option.section}], {option.variable} or {option.flag}", field=name
            )
        return value

    def whole(self, name: str) -> int | None:
        """Return an option that is a whole number."""
        return typed_whole_number(self.text(name), name)

    def path(self, text: str) -> Path:
        """Return a path of the project, relative to its folder."""
        return self.home / text

    @property
    def source(self) -> str:
        """The log: a URL as it is, or a path relative to the project."""
        log = self.required("log")
        return log if url_scheme(log) else str(self.path(log))

    def period(self, name: str) -> Period:
        """Return a period of the project."""
        return Period(name, self.items("end_activity"), self.text("gap"), self.text_or("grace", "0d"))

    def reading(self, period: Period | None) -> Reading:
        """Return the rule from events to variants."""
        options: dict[str, Any] = {name: text for name in _READING if (text := self.text(name)) is not None}
        return Reading(
            activities=self.items("activity"),
            where=parse_where(self.items("where")),
            max_cases=self.whole("max_cases"),
            period=period,
            **options,
        )

    def policy(self) -> Policy | None:
        """Return the policy of the project, if it has one. The pipeline adds its rules to those of the one that it finds."""
        text = self.text("policy")
        return None if text is None else Policy.load(Path(text) if text == "default" else self.path(text))

    def mechanism(self, unit: PrivacyUnit) -> Mechanism:
        """Return the mechanism."""
        epsilon, delta = self._parameters()
        stated: dict[str, Any] = {name: self.values.get(name) or None for name in _MECHANISM}
        if (names := stated["alphabet"]) is not None:
            stated["alphabet"] = read_activities(self.path(names))
        described = described_mechanism(stated, epsilon, delta, unit)
        return from_description(described, references="follow")

    def _parameters(self) -> tuple[str, str]:
        if (share := self.text("share")) is None:
            return self.required("epsilon"), self.required("delta")
        if self.text("epsilon") or self.text("delta"):
            raise ParameterError("share is set, and so are epsilon or delta; set one or the other", field="share")
        limits: dict[str, Fraction] = {}
        policy = Policy.applying(self.policy())
        for rule in policy.rules if policy else ():
            if isinstance(rule.value, Fraction):
                limits[rule.name] = min(rule.value, limits.get(rule.name, rule.value))
        names = ("epsilon_per_release", "delta_per_release")
        if any(name not in limits for name in names):
            raise ParameterError(
                "share is set but no policy limits ε and δ per release; set epsilon and delta", field="share"
            )
        part = exact(share, "share")
        if not 0 < part <= 1:
            raise ParameterError(f"share is {shown(share)}: it must be above 0 and at most 1", field="share")
        epsilon, delta = (as_text(limits[name] * part) for name in names)
        return epsilon, delta


def file_values(path: Path) -> dict[str, str | tuple[str, ...]]:
    """Return the values of a project file. Unknown tables and keys are refused with a suggestion."""
    content = check_keys(str(path), load_toml(path), SECTIONS)
    values = {}
    for section in content:
        names = [option.name for option in OPTIONS if option.section == section]
        for name, value in check_keys(f"{path}: [{section}]", content[section], names).items():
            values[name] = _checked(f"{path}: [{section}] {name}", BY_NAME[name], value)
    return values


def environment_values(environment: Mapping[str, str]) -> dict[str, str | tuple[str, ...]]:
    """Return the values of `TRAVAS_…` variables; the items of a list are separated by semicolons."""
    stated = {option: environment[option.variable] for option in OPTIONS if environment.get(option.variable)}
    return {
        option.name: tuple(item.strip() for item in text.split(";")) if option.is_list else text
        for option, text in stated.items()
    }


def template(values: Values) -> str:
    """Return a commented project file: options that are set, and the others as comments with an example."""
    lines = ["# A release project of travas: https://pypi.org/project/travas, travas docs project.",
             "# travas release --period 2026-02 makes a release from it. Flags override TRAVAS_… variables, and these the file.",
             "# All of it decides the release, so choose it without looking at single cases of the log."]  # fmt: skip
    for section, about in SECTIONS.items():
        lines += ["", f"# {about}", f"[{section}]"]
        for option in OPTIONS:
            if option.section != section:
                continue
            value, mark = values.get(option.name), ""
            if value is None:
                value, mark = ((option.example,) if option.is_list else option.example), "# "
            lines += [f"# {option.about}", f"{mark}{option.name} = {_toml(value)}"]
    return "\n".join(lines) + "\n"


def _toml(value: str | Sequence[str]) -> str:
    return json.dumps(value if isinstance(value, str) else list(value), ensure_ascii=False)


def _checked(where: str, option: ProjectOption, value: Any) -> str | tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if option.is_list and isinstance(items, list) and all(isinstance(item, str) for item in items):
        return tuple(items)
    if not option.is_list and isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    raise ParameterError(
        f"{where} is {shown(value)}; it must be {'a list of text' if option.is_list else 'text or a number'}"
    )


def check_no_password(path: Path, values: Values) -> None:
    """Raise ParameterError if a value of a project file contains a password."""
    for name in ("log", "query"):
        if _has_password(str(values.get(name, ""))):
            raise ParameterError(
                f"{path}: {name} contains a password; secrets come from the environment only: remove it, and set "
                f"PGPASSWORD, a service file, or {BY_NAME[name].variable}"
            )


def _has_password(text: str) -> bool:
    try:
        return "://" in text and urlsplit(text).password is not None
    except ValueError:
        return False
