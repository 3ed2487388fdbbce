"""The policy of an organisation: what a release may cost, and what it needs. Checked before anything is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from ..errors import ParameterError, PolicyError
from ..model.mechanism import Mechanism
from ..privacy.numbers import as_text, exact
from .account import Account, Approval
from .accounting import Spending, basic
from .ledger import data_directory
from .periods import ChargedPeriod, alternatives
from .toml_settings import check_keys, load_toml, value_of

_LIMITS = ("epsilon_per_release", "delta_per_release", "epsilon_per_year", "delta_per_year")
_LISTS = ("units", "mechanisms")
_REQUIRED = ("reason", "sign_off")
RULES = (*_LIMITS, *_LISTS, *_REQUIRED)


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
            return "a reason is required" if self.name == "reason" else "a sign-off is required"
        if isinstance(self.value, tuple):
            return f"{self.name}: only {', '.join(self.value)}"
        number, _, span = self.name.partition("_per_")
        return f"{'ε' if number == 'epsilon' else 'δ'} per {span}: at most {as_text(self.value)}"

    def describe(self) -> dict[str, Any]:
        """Return the rule as plain values, for the report."""
        value = self.value
        plain = as_text(value) if isinstance(value, Fraction) else list(value) if isinstance(value, tuple) else value
        return {"rule": self.name, "value": plain, "because": self.because, "source": self.source}


@dataclass(frozen=True)
class Policy:
    """The rules of an organisation. A policy without rules allows everything."""

    name: str
    rules: tuple[PolicyRule, ...] = ()

    @classmethod
    def load(cls, path: Path) -> Policy:
        """Read a policy file: docs/policy.md.

        Args:
            path: The file, or `default` for the policy that comes with travas.

        Returns:
            The policy.

        Raises:
            ParameterError: The file is not a valid policy.
        """
        if str(path) == "default":
            with as_file(files(__package__).joinpath("default_policy.toml")) as own:
                return cls.load(own)
        where = str(path)
        content = check_keys(where, load_toml(path), ("name", "rules"))
        tables = check_keys(f"{where}: rules", content.get("rules", {}), RULES)
        rules = tuple(_rule(f"{where}: rules.{name}", name, tables[name]) for name in RULES if name in tables)
        return cls(value_of(where, content, "name", str) or path.stem, rules)

    @classmethod
    def found(cls) -> Policy | None:
        """Read the policy of `TRAVAS_POLICY`, or `travas/policy.toml` in the data directory; None if there is none."""
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
                f"{usual}: whether there is a policy cannot be seen ({error.strerror}); change the rights of the folder, or "
                "set TRAVAS_POLICY",
                field="policy",
            ) from None
        return cls.load(usual) if present else None

    @classmethod
    def applying(cls, path: Path | None) -> Policy | None:
        """Return the policy of a release: the rules of the one that is found, and those of a file, if one is set.

        Args:
            path: A file, or `default`; None is only the policy that is found. A file adds rules and removes none.

        Returns:
            The policy; None if there is none.
        """
        found = cls.found()
        if path is None or found is None:
            return found if path is None else cls.load(path)
        stated = cls.load(path)
        more = tuple(rule for rule in stated.rules if rule not in found.rules)
        names = dict.fromkeys((found.name, stated.name))
        return cls(" and ".join(names), (*found.rules, *more))

    def check(
        self,
        mechanism: Mechanism,
        approval: Approval,
        account: Account | None,
        period: ChargedPeriod | None,
    ) -> None:
        """Raise PolicyError, with the rule's own explanation, if a release breaks a rule.

        Args:
            mechanism: The mechanism of the release.
            approval: Its reason and sign-off.
            account: The account before the charge; None if the release is not charged.
            period: The period of the release, if any.
        """
        for rule in self.rules:
            if (problem := _problem(rule, mechanism, approval, account, period)) is not None:
                source = f" ({rule.source})" if rule.source else ""
                raise PolicyError(f"policy {self.name!r}: {problem}; {rule.text}, because {rule.because}{source}")

    def describe(self) -> dict[str, Any]:
        """Return the policy as plain values, for the report."""
        return {"name": self.name, "rules": [rule.describe() for rule in self.rules]}


def _rule(where: str, name: str, content: Any) -> PolicyRule:
    key, kind = ("at_most", str) if name in _LIMITS else ("allowed", list) if name in _LISTS else ("required", bool)
    table = check_keys(where, content, (key, "because", "source"))
    value, because = value_of(where, table, key, kind), value_of(where, table, "because", str)
    if value is None or not because:
        raise ParameterError(f"{where}: {key} and because are required; a rule explains itself")
    if name in _LIMITS:
        value = exact(value, f"{where}.{key}")
    return PolicyRule(
        name, tuple(value) if isinstance(value, list) else value, because, value_of(where, table, "source", str) or ""
    )


def _problem(
    rule: PolicyRule,
    mechanism: Mechanism,
    approval: Approval,
    account: Account | None,
    period: ChargedPeriod | None,
) -> str | None:
    """Return what breaks a rule; None if nothing does."""
    guarantee = mechanism.guarantee()
    facts: Mapping[str, str] = {"units": guarantee.unit.name, "mechanisms": guarantee.mechanism}
    if isinstance(rule.value, tuple):
        return None if facts[rule.name] in rule.value else f"{rule.name[:-1]} is {facts[rule.name]!r}"
    if isinstance(rule.value, bool):
        text = approval.reason if rule.name == "reason" else approval.signed_off_by
        missing = "reason is empty" if rule.name == "reason" else "signed_off_by is empty"
        return missing if rule.value and not text.strip() else None
    epsilon, delta = guarantee.epsilon, guarantee.delta
    if rule.name.endswith("_year"):
        if account is None:
            return "the release is not charged, so the sum of a year is not known; set ledger"
        epsilon, delta = _in_a_year(mechanism, account, period)
    symbol, value = ("ε", epsilon) if rule.name.startswith("epsilon") else ("δ", delta)
    if value <= rule.value:
        return None
    year = " together with the earlier releases of this year" if rule.name.endswith("_year") else ""
    return f"{symbol} is {as_text(value)}{year}"


def _in_a_year(mechanism: Mechanism, account: Account, period: ChargedPeriod | None) -> tuple[Fraction, Fraction]:
    """Return (ε, δ) of this calendar year for one unit, this release included."""
    guarantee, year = mechanism.guarantee(), f"{datetime.now(UTC).year:04}-"
    this = Spending(guarantee.mechanism, guarantee.epsilon, guarantee.delta, guarantee.unit)
    charges = [(entry.spending, entry.period) for entry in account.entries if entry.time.startswith(year)]
    sums = [basic(spendings) for spendings in alternatives([*charges, (this, period)])]
    return max(epsilon for epsilon, _ in sums), max(delta for _, delta in sums)
