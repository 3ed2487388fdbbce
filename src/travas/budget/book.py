"""The state of a ledger from its records: the data sets, and what each may spend and has spent."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import Any
from unicodedata import normalize

from ..errors import ParameterError
from ..search.person_tables import GaussianTable
from ..sources.table_location import LogLocation, TableLocation
from ..trusted.guarantee import PrivacyUnit, Standing
from .account import Account, Approval, Budget, Entry, check_text, comparable, is_content_name, readable
from .accounting import Spending
from .periods import ChargedPeriod
from .records import Assigned, Charged, Created, Limited, Record, Respelled, decode

_FRACTION = re.compile(r"[0-9]+(/[1-9][0-9]*)?", re.ASCII)


@dataclass(frozen=True)
class Key:
    """The key of an account: the name of a data set, or the location of a source without a name."""

    dataset: str | None
    location: str | None = None


@dataclass(frozen=True)
class Claim:
    """The account that a release is charged to, and the accounts without a name that it takes over."""

    key: Key
    taken_over: tuple[Key, ...]

    def records(self, time: str) -> tuple[Assigned | Respelled, ...]:
        """Return the records after which all charges belong to one account."""
        name, location = self.key.dataset, self.key.location
        return tuple(
            Assigned(time, None, taken.location, name)
            if name is not None
            else Respelled(time, str(taken.location), str(location))
            for taken in self.taken_over
        )


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
        names = (record.dataset for record in self.records if isinstance(record, Created | Limited | Charged))
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def name(self, dataset: str, where: object) -> str:
        """Return the key of an existing data set. An unknown name is refused with similar names."""
        for spelling in (check_text(dataset), normalize("NFC", dataset)):
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
        by_form = {comparable(name): name for name in self.names if not is_content_name(name)}
        return [by_form[form] for form in get_close_matches(comparable(dataset), by_form, n=3)]

    def root(self, key: Key) -> Key:
        """Return the account that this key belongs to."""
        while (owner := self._owners.get(key)) is not None:
            key = owner
        return key

    @cached_property
    def _owners(self) -> dict[Key, Key]:
        owners = {}
        for record in self.records:
            if isinstance(record, Assigned):
                owners[Key(record.old, record.location)] = Key(record.dataset)
            elif isinstance(record, Respelled):
                owners[Key(None, record.location)] = Key(None, record.now)
        return owners

    @cached_property
    def locations(self) -> tuple[str, ...]:
        """All locations that something was charged to or that were assigned, in order."""
        locations = (record.location for record in self.records if isinstance(record, Charged | Assigned))
        return tuple(dict.fromkeys(location for location in locations if location is not None))

    def claim(self, dataset: str | None, location: LogLocation | None) -> Claim:
        """Return the account that a release is charged to, and the accounts without a name that it takes over.

        All spellings of a table have one account. A name takes over what was charged to any of them without a name; a
        release without a name belongs to the name of the table. If the table has two names, the release must state a data
        set.
        A location of an earlier version that may be either of two tables unites them: its charges must count for both.

        Args:
            dataset: The name of an existing data set, or None.
            location: Where the log is, or None if it is in memory.

        Returns:
            The keys of the accounts.
        """
        if location is None and dataset is None:
            raise ParameterError(
                "dataset is not set; the ledger can identify a log in memory, from standard input or from a query only "
                "by name; set dataset",
                field="dataset",
            )
        roots = self._roots(location)
        named = [root for root in roots if root.dataset is not None]
        unnamed = [root for root in roots if root.dataset is None]
        if dataset is None and len(named) > 1:
            names = " and ".join(repr(root.dataset) for root in named)
            raise ParameterError(f"dataset is not set, but this table belongs to {names}; set dataset", field="dataset")
        key = self.root(Key(dataset)) if dataset is not None else (named or roots)[0]
        moved = unnamed if not named else [root for root in unnamed if any(self.entries(root))]
        return Claim(key, tuple(root for root in moved if root != key))

    def _roots(self, location: LogLocation | None) -> tuple[Key, ...]:
        """Return the accounts of all spellings of a location. The first is that of the location as it is recorded."""
        if isinstance(location, TableLocation):
            spellings = [location.text, *filter(location.is_spelled, self.locations)]
        else:
            spellings = [] if location is None else [location]
        return tuple(dict.fromkeys(self.root(Key(None, spelling)) for spelling in spellings))

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
    parameters = _fraction(charge.epsilon), _fraction(charge.delta)
    spending = Spending(charge.mechanism, *parameters, unit, Standing(charge.standing), _description(charge))
    period = None if charge.period is None else ChargedPeriod.from_plain(charge.period)
    return Entry(
        number, charge.time, dataset, spending, charge.minimum_cases, charge.software, charge.case, location,
        period, Approval(*map(readable, (charge.reason, charge.signed_off_by, charge.reference))),
    )  # fmt: skip


def _description(charge: Charged) -> dict[str, Any]:
    if charge.description is not None:
        if not isinstance(charge.description, dict):
            raise ValueError("not a description")
        return charge.description
    return (
        {}
        if charge.person_table is None
        else {"person_table": GaussianTable.from_plain(charge.person_table).describe()}
    )


def _fraction(text: str) -> Fraction:
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ValueError("not a fraction")
    return Fraction(text)
