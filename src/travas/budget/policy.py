"""The policy of an organisation: what a release may cost, and what it needs. Checked before anything is read."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..errors import BudgetError, ParameterError, PolicyError, shown
from ..trusted.numbers import as_text, exact
from .account import Account, Entry, now

RULES = {
    "epsilon_per_release": "at_most",
    "delta_per_release": "at_most",
    "epsilon_per_year": "at_most",
    "delta_per_year": "at_most",
    "units": "allowed",
    "mechanisms": "allowed",
    "reason": "required",
    "sign_off": "required",
}
"""The rules that a policy can have, and the key of their value in a policy file."""

_YEARLY = ("epsilon_per_year", "delta_per_year")
_PARAMETERS = {"units": "unit", "mechanisms": "mechanism", "reason": "reason", "sign_off": "signed_off_by"}
"""The parameter that a rule is about, if it limits no number."""


@dataclass(frozen=True)
class PolicyRule:
    """One rule and its own explanation.

    Attributes:
        name: One of `RULES`.
        value: The largest number, the allowed names, or True for what is required.
        because: Why; quoted where the rule refuses a release, and in the report.
        source: Where that comes from.
    """

    name: str
    value: Fraction | tuple[str, ...] | bool
    because: str
    source: str = ""

    @property
    def text(self) -> str:
        """The rule in words."""
        if isinstance(self.value, bool):
            return f"a {self.name.replace('_', '-')} is required"
        if isinstance(self.value, tuple):
            return f"{self.name}: only {', '.join(self.value)}"
        parameter, _, span = self.name.split("_")
        return f"{_SYMBOLS[parameter]} per {span}: at most {as_text(self.value)}"


_SYMBOLS = {"epsilon": "ε", "delta": "δ"}


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
        usual = data_directory() / "travas" / "policy.toml"
        try:
            present = usual.exists()
        except OSError as error:  # there may be one: a release without its rules would be against them
            words = f"cannot determine whether there is a policy ({error.strerror})"
            raise ParameterError(
                f"{usual}: {words}; change the permissions of the folder, or set TRAVAS_POLICY", field="policy"
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
        policies = [policy for policy in (cls.of_organisation(), stated) if policy is not None]
        rules = dict.fromkeys(rule for policy in policies for rule in policy.rules)
        return cls(" and ".join(dict.fromkeys(policy.name for policy in policies)), tuple(rules)) if policies else None

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


def _rule(where: str, name: str, content: Any) -> PolicyRule:
    key = RULES[name]
    table = check_keys(where, content, (key, "because", "source"))
    because, source = (value_of(where, table, each, str) or "" for each in ("because", "source"))
    if key not in table or not because:
        raise ParameterError(f"{where}: {key} and because are required: every rule states its reason")
    if key == "at_most":
        return PolicyRule(name, exact(table[key], f"{where}: {key}"), because, source)
    if key == "allowed":
        return PolicyRule(name, tuple(value_of(where, table, key, list)), because, source)
    if table[key] is not True:
        raise ParameterError(f"{where}: {key} is {shown(table[key])}; use true, or remove the rule")
    return PolicyRule(name, True, because, source)


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
        return "" if getattr(release.approval, field).strip() else f"{field} is empty"
    spent, year = {"epsilon": cost.epsilon, "delta": cost.delta}, ""
    if rule.name in _YEARLY:
        if account is None:
            return "the release is not charged, so the sum of a year is not known; set ledger"
        total = account.of_year(release.time or now()).after(release).spent
        spent, year = dict(zip(spent, total, strict=True)), " together with the earlier releases of this year"
    parameter = rule.name.partition("_")[0]
    value = spent[parameter]
    return "" if value <= rule.value else f"{_SYMBOLS[parameter]} is {as_text(value)}{year}"


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
    """Return the user's data directory; a relative path if there is no home directory."""
    folder = Path(os.environ.get("XDG_DATA_HOME") or "")
    if folder.is_absolute():
        return folder
    home = Path(os.path.expanduser("~"))  # noqa: PTH111, Path.home() raises RuntimeError if there is none
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return home / ".local" / "share"


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
