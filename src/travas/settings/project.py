"""Project files: values of settings, complete or not, in one `travas.toml`, from which releases are made.

A draft may be incomplete: what is missing is named when a release is to be made from it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import attrs

from ..budget.account import Approval
from ..budget.ledger import Ledger
from ..budget.policy import Policy, check_keys, load_toml
from ..errors import ParameterError, check_encodable
from ..explain import check_stated_cases
from ..log.abstraction import Abstraction, read_activities
from ..log.rules import Rules
from ..mechanisms.mechanism import Mechanism, References
from ..mechanisms.registry import MECHANISMS, from_description, options_of
from ..outputs.atomic import Existing, atomic_output
from ..pipeline import Request
from ..releases.release import KINDS, kind_of
from ..releases.release import Kind as ReleaseKind
from ..sources.files import url_scheme
from ..sources.period import Period
from ..sources.reading import Reading
from ..trusted.guarantee import PrivacyUnit
from .table import BY_NAME, SECTIONS, SETTINGS, Value, setting

OFFERED: Mapping[ReleaseKind, tuple[str, ...]] = {
    kind: tuple(name for name, mechanism in MECHANISMS.items() if kind_of(mechanism) == kind) for kind in KINDS
}
"""The mechanisms by kind of release. The first of a kind is its default."""

_READ = [each.name for each in SETTINGS if each.section in ("log", "reading") and each.name != "log"]
OF_TIMES = ("zone", "resolution", "recorded", "longest_case")
"""The settings of the option `times` of a mechanism."""

_RULES = [each.name for each in SETTINGS if each.section == "rules"]
_OPTIONS = [
    each.name for each in SETTINGS if each.section == "mechanism" and each.name not in ("mechanism", "times", *OF_TIMES)
]
_CLOSING = ("end_activity", "gap", "grace")


@attrs.frozen
class Project:
    """Values of settings by name, and the folder from which relative paths start.

    Attributes:
        values: The values, as `Setting.parse` returns them.
        home: The folder of the file.
        references: `refuse` if the values come from a page: no file is read and nothing imported because of them.
    """

    values: Mapping[str, Value] = attrs.field(factory=dict)
    home: Path = Path()
    references: References = "follow"

    @classmethod
    def load(cls, path: Path) -> Project:
        """Read a project file.

        Args:
            path: The file.

        Returns:
            The project, which may be incomplete.

        Raises:
            ParameterError: A key is unknown, a value is not one of its setting, or a password is in the file.
        """
        values: dict[str, object] = {}
        for section, content in check_keys(str(path), load_toml(path), SECTIONS).items():
            names = [each.name for each in SETTINGS if each.section == section]
            values |= check_keys(f"{path}: [{section}]", content, names)
        return cls(home=path.parent).with_values(values)

    def with_values(self, stated: Mapping[str, object]) -> Project:
        """Return the project with some values set, or removed where they are None.

        Args:
            stated: Text, whole numbers or lists of text by the names of settings.

        Returns:
            The project.

        Raises:
            ParameterError: There is no such setting, or it cannot have this value.
        """
        parsed = {name: setting(name).parse(value) for name, value in stated.items() if value is not None}
        kept = {name: value for name, value in self.values.items() if name not in stated}
        return attrs.evolve(self, values={name: value for name, value in {**kept, **parsed}.items() if value != ()})

    def text(self) -> str:
        """Return the content of the file: what is set, each with its help, and the common settings that are not set.

        Returns:
            TOML, of which everything that is not set is a comment.

        Raises:
            ParameterError: A value contains a password.
        """
        for name in ("log", "query"):
            if _PASSWORD.search(self.stated(name)):
                raise ParameterError(
                    f"{name} contains a password, which does not belong into a file; set PGPASSWORD, or use a service file",
                    field=name,
                )
        lines = [
            "# A release project of travas (travas docs every-month). Make the release: travas release travas.toml",
            "# All settings: travas anonymize --help-all. None is chosen by looking at single cases of the log.",
        ]
        for section, about in SECTIONS.items():
            lines += ["", f"# {about}", f"[{section}]"]
            for each in SETTINGS:
                if each.section == section and (each.name in self.values or each.use == "common"):
                    sign, value = (
                        ("", self.values[each.name]) if each.name in self.values else ("# ", each.parse(each.example))
                    )
                    lines += [f"# {each.help}", f"{sign}{each.name} = {_toml(value)}"]
        return "\n".join(lines) + "\n"

    def save(self, path: Path, existing: Existing = "fail") -> None:
        """Write the project file.

        Args:
            path: The file.
            existing: What to do if it exists.
        """
        text = self.text()
        check_encodable("project", text)
        with atomic_output(path, existing) as partial:
            partial.write_text(text, encoding="utf-8", newline="\n")

    def stated(self, name: str, default: str = "") -> str:
        """Return the text of a setting.

        Args:
            name: The setting, not a list.
            default: What to return if it is not set.

        Returns:
            The text.
        """
        return str(self.values.get(name, default))

    def items(self, name: str) -> tuple[str, ...]:
        """Return the values of a list, as text.

        Args:
            name: The setting.

        Returns:
            The values; the only one of another setting, and none if it is not set.
        """
        value = self.values.get(name, ())
        return value if isinstance(value, tuple) else (str(value),)

    def required(self, name: str) -> str:
        """Return the text of a setting without which there is no release.

        Args:
            name: The setting.

        Returns:
            The text.

        Raises:
            ParameterError: It is not set.
        """
        if name not in self.values:
            row = BY_NAME[name]
            raise ParameterError(
                f"{name} is not set; set it to a value, such as {row.example} (key {name} of [{row.section}] in a project)",
                field=name,
            )
        return self.stated(name)

    def _stated(self, names: Iterable[str]) -> dict[str, Any]:
        """Those of some settings that are set."""
        return {name: self.values[name] for name in names if name in self.values}

    def path(self, text: str) -> Path:
        """Return a path of the project.

        Args:
            text: The path, relative to the folder of the project.

        Returns:
            The path.
        """
        return self.home / text

    def moved(self, home: Path) -> Project:
        """Return the same project in another folder, from which its relative paths then start.

        Args:
            home: The folder.

        Returns:
            The project.
        """
        paths = (
            {name: text for name, text in self.values.items() if _is_relative(name, text)} if home != self.home else {}
        )
        moved = {name: os.path.relpath(self.path(str(text)), home) for name, text in paths.items()}
        return attrs.evolve(self, home=home, values={**self.values, **moved})

    @property
    def source(self) -> str:
        """The log: a path relative to the project, or a URL as it is."""
        log = self.required("log")
        return log if url_scheme(log) or log == "-" or self.home == Path() else str(self.path(log))

    @property
    def unit(self) -> PrivacyUnit:
        """Who is protected."""
        return Reading(**self._stated(("unit", "max_cases"))).privacy_unit

    @property
    def stated_cases(self) -> int | None:
        """The approximate number of cases, if it is stated."""
        return check_stated_cases(cast("int | None", self.values.get("stated_cases")))

    @property
    def about(self) -> tuple[str, ...]:
        """What the README says about the data, and for whom the release is made."""
        recipients = "; ".join(self.items("recipients"))
        stated = [self.stated("about")] if "about" in self.values else []
        return (*stated, *((f"It was made for: {recipients}.",) if recipients else ()))

    def reading(self) -> Reading:
        """Return the rule from events to variants.

        Returns:
            The reading, with the period if one is set.

        Raises:
            ParameterError: The values contradict each other.
        """
        options = self._stated(_READ)
        if "abstraction" in options and self.references == "refuse":
            options["abstraction"] = Abstraction.parse(options["abstraction"], files="refuse")
        return Reading(**options, period=self._period())

    def _period(self) -> Period | None:
        if "period" in self.values:
            return Period(self.stated("period"), **self._stated(_CLOSING))
        for name in self._stated((*_CLOSING, "every")):
            raise ParameterError(f"{name} is set but period is not; also set period", field="period")
        return None

    def mechanism(self) -> Mechanism:
        """Return the mechanism, without building its tables.

        Returns:
            The mechanism.

        Raises:
            ParameterError: ε or δ is missing, or the mechanism does not have an option that is set.
        """
        name, unit, options = self.stated("mechanism", OFFERED["variants"][0]), self.unit, self._stated(_OPTIONS)
        if isinstance(file := options.get("alphabet"), str):
            if self.references == "refuse":
                raise ParameterError("alphabet is the name of a file; use a list of activities", field="alphabet")
            options["alphabet"] = read_activities(self.path(file))
        described = {
            "mechanism": name,
            "epsilon": self.required("epsilon"),
            "delta": self.required("delta"),
            "unit": {"name": unit.name, "max_cases": unit.max_cases},
        }
        return from_description(described | self._details(name) | options, references=self.references)

    def _details(self, mechanism: str) -> dict[str, Any]:
        """Times and rules; a mechanism that has no such options refuses their settings."""
        if mechanism not in MECHANISMS or "times" not in options_of(MECHANISMS[mechanism]):
            return self._stated(("times", *OF_TIMES, *_RULES))
        times = None if self.stated("times") == "none" else self._stated(OF_TIMES)
        return {"times": times} | self._rules()

    def _rules(self) -> dict[str, Any]:
        """The rules: those of the reference model, and those that are stated, which take their place."""
        stated = self._stated(_RULES)
        if (model := stated.pop("reference_model", None)) is None:
            return {"rules": Rules(**stated)}
        if self.references == "refuse":
            raise ParameterError("reference_model is the name of a file; use the other rules", field="reference_model")
        from ..evaluation.pm4py_models import rules_of_model

        of_model = rules_of_model(self.path(model))
        return {"rules": attrs.evolve(of_model, **stated), "alphabet": of_model.activities}

    def policy(self) -> Policy | None:
        """Return the policy that is set; the pipeline adds its rules to those of the organisation.

        Returns:
            The policy, or None.
        """
        text = self.stated("policy")
        return Policy.load(Path(text) if text == "default" else self.path(text)) if text else None

    def ledger(self) -> Ledger:
        """Open the ledger, by default that of the user. It is created if it does not exist.

        Returns:
            The ledger.
        """
        text = self.stated("ledger")
        return Ledger(self.path(text)) if text else Ledger.default()

    def request(self) -> Request:
        """Return the release that the values describe.

        Returns:
            The request, for `pipeline.run`.

        Raises:
            ParameterError: A value is missing or wrong.
        """
        said_of_times = {*OF_TIMES, "hours", "at_least"} & set(self.values)
        return Request(
            source=self.source,
            mechanism=self.mechanism(),
            reading=self.reading(),
            output=self.path(self.required("output")),
            times="required" if said_of_times else "if recorded",
            ledger=self.ledger(),
            policy=self.policy(),
            approval=Approval(self.stated("reason"), self.stated("signed_off_by")),
            about=self.about,
            **self._stated(("frequencies", "dataset", "guarantee")),
        )


def _toml(value: Value) -> str:
    """Write a value as TOML, whose strings and arrays are those of JSON but for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_relative(name: str, value: Value) -> bool:
    """Whether a value is a relative path."""
    if "file" not in BY_NAME[name].kind or not isinstance(value, str) or value in ("-", "default"):
        return False
    return url_scheme(value) is None and not Path(value).is_absolute()


_PASSWORD = re.compile(r"password=|://[^/]*:[^/]*@", re.IGNORECASE)
