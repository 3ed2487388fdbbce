"""The policy of an organisation: what a release may cost, and what it needs. Checked before anything is read."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from ..errors import BudgetError, ParameterError, PolicyError, one_of, shown
from ..log.plain import plain
from ..trusted.numbers import Number, as_text, exact
from .account import Account, Entry, is_text, now

_LIMITS = {
    "epsilon_per_release": ("ε", "release"),
    "delta_per_release": ("δ", "release"),
    "epsilon_per_year": ("ε", "year"),
    "delta_per_year": ("δ", "year"),
}
"""The number that a rule limits, and whose: that of a release, or of all releases of a year."""

_YEARLY = ("epsilon_per_year", "delta_per_year")
_PARAMETERS = {"units": "unit", "mechanisms": "mechanism", "reason": "reason", "sign_off": "signed_off_by"}
"""The parameter that a rule is about, if it limits no number."""

RULES = {
    **dict.fromkeys(_LIMITS, "at_most"),
    **dict.fromkeys(("units", "mechanisms"), "allowed"),
    **dict.fromkeys(("reason", "sign_off"), "required"),
}
"""The rules that a policy can have, and the key of their value in a policy file."""

_VALUES = {
    "at_most": (Fraction, "a number, such as 0.5"),
    "allowed": (tuple, "a list of names"),
    "required": (bool, "true or false"),
}


def _value(value: Number | Sequence[str] | bool) -> Fraction | tuple[str, ...] | bool:
    """Lists become tuples and numbers exact; whether the rule needs such a value is checked afterwards."""
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(value)
    with suppress(ParameterError):
        return exact(value, "value")  # type: ignore[arg-type]
    return value  # type: ignore[return-value]


def _check_value(rule: PolicyRule, _: object, value: Any) -> None:
    kind, expected = _VALUES[RULES[rule.name]]
    if not isinstance(value, kind):
        raise ParameterError(f"{RULES[rule.name]} is {shown(value)}; use {expected}", field="value")


@attrs.frozen
class PolicyRule:
    """One rule and its own explanation.

    Attributes:
        name: One of `RULES`.
        value: The largest number, the allowed names, or True for what is required.
        because: Why; quoted where the rule refuses a release, and in the report.
        source: Where that comes from.
    """

    name: str = attrs.field(validator=one_of(RULES))
    value: Fraction | tuple[str, ...] | bool = attrs.field(converter=_value, validator=_check_value)
    because: str = attrs.field(validator=is_text)
    source: str = attrs.field(default="", validator=is_text)

    @property
    def text(self) -> str:
        """The rule in words."""
        if isinstance(self.value, bool):
            return f"a {self.name.replace('_', '-')} is required"
        if isinstance(self.value, tuple):
            return f"{self.name}: only {', '.join(self.value)}"
        symbol, span = _LIMITS[self.name]
        return f"{symbol} per {span}: at most {as_text(self.value)}"

    def describe(self) -> dict[str, Any]:
        """Return the rule as plain values, for the report."""
        return {"rule": self.name, "value": plain(self.value), "because": self.because, "source": self.source}


@dataclass(frozen=True)
class Policy:
    """The rules of an organisation. A policy without rules allows everything."""

    name: str
    rules: tuple[PolicyRule, ...] = ()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy file: docs/policy.md.

        Args:
            path: The file, or `default` for the policy that comes with travas.

        Returns:
            The policy.

        Raises:
            ParameterError: The file is not a valid policy.
        """
        where = str(path)
        file = Path(__file__).with_name("default_policy.toml") if where == "default" else Path(path)
        content = check_keys(where, load_toml(file), ("name", "rules"))
        tables = check_keys(f"{where}: rules", content.get("rules", {}), RULES)
        rules = tuple(_rule(f"{where}: rules.{name}", name, tables[name]) for name in RULES if name in tables)
        return cls(value_of(where, content, "name", str) or file.stem, rules)

    @classmethod
    def of_organisation(cls) -> Policy | None:
        """Read the policy of the organisation: that of `TRAVAS_POLICY`, or `travas/policy.toml` in the data directory.

        Returns:
            The policy; None if there is none.
        """
        if path := os.environ.get("TRAVAS_POLICY"):
            return cls.load(Path(path))
        try:
            usual = data_directory() / "travas" / "policy.toml"
        except RuntimeError:  # there is no home directory
            return None
        try:
            present = usual.exists()
        except OSError as error:  # there may be one: a release without its rules would be against them
            raise ParameterError(
                f"{usual}: cannot determine whether there is a policy ({error.strerror}); change the permissions of the folder, "
                "or set TRAVAS_POLICY",
                field="policy",
            ) from None
        return cls.load(usual) if present else None

    @classmethod
    def applying(cls, stated: Policy | None) -> Policy | None:
        """Return the policy of a release: the rules of the one that is found, and those of a stated one.

        Args:
            stated: A policy, which adds rules and removes none; None is only the one that is found.

        Returns:
            The policy; None if there is none.
        """
        usual = cls.of_organisation()
        if stated is None or usual is None:
            return stated if usual is None else usual
        more = tuple(rule for rule in stated.rules if rule not in usual.rules)
        names = dict.fromkeys((usual.name, stated.name))
        return cls(" and ".join(names), (*usual.rules, *more))

    def check(self, release: Entry, account: Account | None) -> None:
        """Raise PolicyError if a release breaks rules, with the explanations of all; BudgetError if a sum is spent.

        Args:
            release: The release, with its reason and sign-off.
            account: The account before the charge; None if the release is not charged.
        """
        broken = {rule: why for rule in self.rules if (why := problem_of(rule, release, account))}
        if not broken:
            return
        words = "; ".join(
            f"{why}; {rule.text}, because {rule.because}{f' ({rule.source})' if rule.source else ''}"
            for rule, why in broken.items()
        )
        is_spent = account is not None and all(rule.name in _YEARLY for rule in broken)
        field, *others = dict.fromkeys(_field(rule, account) for rule in broken)
        error = BudgetError if is_spent else PolicyError
        raise error(f"policy {self.name!r}: {words}", field=field, other_fields=tuple(others))

    def describe(self) -> dict[str, Any]:
        """Return the policy as plain values, for the report.

        Returns:
            The values by name.
        """
        return {"name": self.name, "rules": [rule.describe() for rule in self.rules]}


def _rule(where: str, name: str, content: Any) -> PolicyRule:
    table = check_keys(where, content, (RULES[name], "because", "source"))
    if RULES[name] not in table or not table.get("because"):
        raise ParameterError(f"{where}: {RULES[name]} and because are required: every rule states its reason")
    try:
        return PolicyRule(name, table[RULES[name]], table["because"], table.get("source", ""))
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _field(rule: PolicyRule, account: Account | None) -> str:
    """Return the parameter that a rule is about."""
    if rule.name in _YEARLY and account is None:
        return "ledger"
    return _PARAMETERS.get(rule.name) or rule.name.partition("_")[0]


def problem_of(rule: PolicyRule, release: Entry, account: Account | None) -> str:
    """Return why a release breaks a rule; empty if it does not. `account` is as for `Policy.check`."""
    cost = release.spending
    if isinstance(rule.value, tuple):
        fact = cost.unit.name if rule.name == "units" else cost.mechanism
        names = {fact}
        if rule.name == "units" and not cost.unit.is_case and account is not None and account.unit is not None:
            names.add(account.unit.name)  # the charge is refused if the column does not identify this unit
        return f"{_PARAMETERS[rule.name]} is {fact!r}" if names.isdisjoint(rule.value) else ""
    if isinstance(rule.value, bool):
        field = _PARAMETERS[rule.name]
        return f"{field} is empty" if rule.value and not getattr(release.approval, field).strip() else ""
    (symbol, span), year = _LIMITS[rule.name], ""
    epsilon, delta = cost.epsilon, cost.delta
    if span == "year":
        if account is None:
            return "the release is not charged, so the sum of a year is not known; set ledger"
        epsilon, delta = account.of_year(release.time or now()).after(release).spent
        year = " together with the earlier releases of this year"
    value = epsilon if symbol == "ε" else delta
    return "" if value <= rule.value else f"{symbol} is {as_text(value)}{year}"


def left_this_year(account: Account) -> tuple[Fraction, Fraction] | None:
    """Return what a budget per year and the policy of the organisation leave of this calendar year; None without limits."""
    limits = [account.left] if account.left is not None and account.budget and account.budget.span == "year" else []
    policy, (epsilon, delta) = Policy.of_organisation(), account.this_year.spent
    yearly = {rule.name: rule.value for rule in policy.rules if isinstance(rule.value, Fraction)} if policy else {}
    if set(_YEARLY) <= set(yearly):
        left = yearly["epsilon_per_year"] - epsilon, yearly["delta_per_year"] - delta
        limits.append((max(left[0], Fraction(0)), max(left[1], Fraction(0))))
    return (min(pair[0] for pair in limits), min(pair[1] for pair in limits)) if limits else None


def data_directory() -> Path:
    """Return the user's data directory. Raises RuntimeError if there is no home directory."""
    folder = Path(os.environ.get("XDG_DATA_HOME") or "")
    if folder.is_absolute():
        return folder
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path.home() / ".local" / "share"


# -------------------------------------------------------------------------- TOML files, of policies and of projects

_TYPE_NAMES: dict[type, str] = {str: "text", int: "a whole number", list: "a list of text"}


def load_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; decimal numbers are text, so that they stay exact."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=str)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be opened ({error.strerror}); check the path") from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is one; a number of 5,000 digits raises another
        raise ParameterError(f"{path}: not a TOML file ({error}); fix it") from None


def check_keys(where: str, content: Any, available: Iterable[str]) -> Mapping[str, Any]:
    """Return a table of a TOML file. Raises ParameterError for a key that is not available, with a suggestion."""
    names = list(available)
    if not isinstance(content, Mapping):
        raise ParameterError(f"{where} is {shown(content)}; it must be a table with {', '.join(names)}")
    for key in content:
        if key not in names:
            near = get_close_matches(key, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"available: {', '.join(names)}"
            raise ParameterError(f"{where}: the key {shown(key)} is unknown; {hint}")
    return content


def value_of(where: str, content: Mapping[str, Any], key: str, expected: type) -> Any:
    """Return the value of a key, or None. Raises ParameterError if it has another type."""
    if (value := content.get(key)) is None:
        return None
    if expected is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # an exact number
    right = isinstance(value, expected) and not isinstance(value, bool)
    if not right or (expected is list and not all(isinstance(item, str) for item in value)):
        raise ParameterError(f"{where}: {key} is {shown(value)}; it must be {_TYPE_NAMES[expected]}")
    return value
