"""The state of a ledger from its records: the data sets, and what each may spend and has spent."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from unicodedata import normalize

from ..errors import ParameterError
from ..privacy.guarantee import PrivacyUnit, Standing
from ..privacy.person_tables import Gaussian
from .account import Account, Approval, Budget, Entry, comparable
from .accounting import Spending
from .periods import ChargedPeriod
from .records import Assigned, Charged, Created, Limited, Record, decode

_FRACTION = re.compile(r"[0-9]+(/[1-9][0-9]*)?", re.ASCII)


@dataclass(frozen=True)
class Key:
    """The key of an account: the name of a data set, or the location of a source without a name."""

    dataset: str | None
    location: str | None = None


@dataclass(frozen=True)
class Book:
    """All records of a ledger, in order."""

    records: tuple[Record, ...] = ()

    @classmethod
    def of(cls, contents: Iterable[str]) -> Book:
        return cls(tuple(map(decode, contents)))

    def plus(self, *records: Record) -> Book:
        """Return the book with these records appended."""
        return Book((*self.records, *records))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The named data sets, in the order in which they were created."""
        names = (record.dataset for record in self.records if not isinstance(record, Assigned))
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def name(self, dataset: str, where: object) -> str:
        """Return the key of an existing data set. An unknown name is refused with similar names."""
        for spelling in (dataset, normalize("NFC", dataset)):
            if spelling in self.names:
                return spelling
        near = self._near(dataset)
        hint = f"similar names: {', '.join(map(repr, near))}" if near else "there is no similar name"
        raise ParameterError(
            f"dataset is {dataset[:40]!r}, which is not in the ledger {where}: {hint}; to create it, run "
            f"`travas budget create {shlex.quote(dataset)} --no-limit`, or with --epsilon and --delta for a budget",
            field="dataset",
        )

    def _near(self, dataset: str) -> list[str]:
        by_form = {comparable(name): name for name in self.names if not name.startswith("log:")}
        return [by_form[form] for form in get_close_matches(comparable(dataset), by_form, n=3)]

    def root(self, key: Key) -> Key:
        """Return the account that this key belongs to."""
        while (name := self._assigned.get(key)) is not None:
            key = Key(name)
        return key

    @cached_property
    def _assigned(self) -> dict[Key, str]:
        return {
            Key(record.old, record.location): record.dataset for record in self.records if isinstance(record, Assigned)
        }

    def is_known(self, location: str) -> bool:
        """Return whether the location belongs to a named data set."""
        return Key(None, location) in self._assigned

    @cached_property
    def _budgets(self) -> dict[str, Budget]:
        return {
            record.dataset: Budget(_fraction(record.epsilon), _fraction(record.delta), record.composition)
            for record in self.records
            if isinstance(record, Limited)
        }

    def account(self, key: Key) -> Account:
        """Return the charges to this key and to all keys that were assigned to it."""
        root = self.root(key)
        budget = None if root.dataset is None else self._budgets.get(root.dataset)
        return Account(root.dataset, budget, tuple(self.entries(root)), root.location)

    def accounts(self) -> list[Account]:
        """Return all accounts: by name, then those without a name by location."""
        keys = {
            self.root(Key(record.dataset, record.location)) for record in self.records if isinstance(record, Charged)
        }
        keys |= {self.root(Key(record.dataset)) for record in self.records if isinstance(record, Created | Limited)}
        ordered = sorted(keys, key=lambda key: (key.dataset is None, key.dataset or "", key.location or ""))
        return [self.account(key) for key in ordered]

    def entries(self, root: Key | None = None) -> Iterator[Entry]:
        """Return all charges, or those of one account, in order."""
        charges = (record for record in self.records if isinstance(record, Charged))
        for number, charge in enumerate(charges, start=1):
            owner = self.root(Key(charge.dataset, charge.location))
            if root in (None, owner):
                yield entry_of(number, charge, owner.dataset, owner.location)


def entry_of(number: int, charge: Charged, dataset: str | None, location: str | None) -> Entry:
    """Convert a charge to an entry of an account. Raises ValueError if its values are invalid."""
    unit = PrivacyUnit(charge.unit, charge.max_cases)
    standing = Standing(charge.standing)
    table = None if charge.person_table is None else Gaussian.from_plain(charge.person_table)
    spending = Spending(charge.mechanism, _fraction(charge.epsilon), _fraction(charge.delta), unit, standing, table)
    period = None if charge.period is None else ChargedPeriod.from_plain(charge.period)
    return Entry(
        number, charge.time, dataset, spending, charge.minimum_cases, standing, charge.software, charge.case, location,
        period, Approval(charge.reason or "", charge.signed_off_by or "", charge.reference or ""),
    )  # fmt: skip


def _fraction(text: str) -> Fraction:
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ValueError("not a fraction")
    return Fraction(text)
