"""The ledger: what was spent on which data set. Data sets are identified by name or by the path of a file, never by content.

A charge is on the disk before any noise is drawn. Every operation opens, checks and closes the file, so that processes
share nothing but the file, which SQLite locks.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

import attrs

from ..errors import BudgetError, LedgerError, ParameterError, number_of
from ..log.plain import converter, plain
from ..trusted.numbers import Number
from .account import (
    Account,
    Budget,
    BudgetSpan,
    CompositionRule,
    Entry,
    UnitName,
    check_name,
    check_unit_name,
    comparable,
    now,
    readable,
)
from .ledger_file import OpenLedger, Record, make_ledger, open_ledger
from .policy import Policy, data_directory


def default_path() -> Path:
    """Return `TRAVAS_LEDGER`, or `travas/ledger.db` in the user's data directory."""
    if path := os.environ.get("TRAVAS_LEDGER"):
        return Path(path)
    if not (base := data_directory()).is_absolute():
        raise LedgerError("there is no home directory for the ledger; set TRAVAS_LEDGER", field="ledger")
    return base / "travas" / "ledger.db"


@dataclass(frozen=True)
class Book:
    """All records of a ledger, in order, as accounts."""

    records: tuple[Record, ...]

    def _of_kind(self, kind: str) -> Iterator[Record]:
        return (record for record in self.records if record["kind"] == kind)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The data sets, in the order in which they were created."""
        return tuple(record["dataset"] for record in self._of_kind("data set"))

    @cached_property
    def _budgets(self) -> dict[str, Budget]:
        return {record["dataset"]: Budget(**record["budget"]) for record in self._of_kind("budget")}

    @cached_property
    def _units(self) -> dict[str, UnitName]:
        units: dict[str, UnitName] = {}
        for record in self._of_kind("unit"):
            before = units.get(record["dataset"], UnitName(record["name"])).columns
            units[record["dataset"]] = UnitName(record["name"], tuple(dict.fromkeys([*before, *record["columns"]])))
        return units

    def name(self, dataset: str, where: object) -> str:
        """Return the name of an existing data set. An unknown name is refused with similar names."""
        if (composed := normalize("NFC", dataset)) in self.names:
            return composed
        by_form = {comparable(name): name for name in self.names}
        near = [by_form[form] for form in get_close_matches(comparable(dataset), by_form, n=3)]
        hint = f"similar names: {', '.join(map(repr, near))}" if near else "there is no similar name"
        option = "" if Path(str(where)) == default_path() else f" --ledger {shlex.quote(str(where))}"
        raise ParameterError(
            f"dataset is {dataset[:40]!r}, which is not in the ledger {where}: {hint}; to create it, run "
            f"`travas budget create {shlex.quote(dataset)} --no-limit{option}`, or with --epsilon and --delta for a budget",
            field="dataset",
        )

    @cached_property
    def history(self) -> tuple[Entry, ...]:
        """All charges, each with the data set that it belongs to: its own, or the one whose charge took it over."""
        charges = list(self._of_kind("charge"))
        taken = {number: record["charge"]["dataset"] for record in charges for number in record["takes"]}
        entries = (converter().structure(record["charge"], Entry) for record in charges)
        return tuple(replace(entry, dataset=entry.dataset or taken.get(entry.number)) for entry in entries)

    def account(self, dataset: str) -> Account:
        """Return a data set with all charges that belong to it."""
        entries = tuple(entry for entry in self.history if entry.dataset == dataset)
        return Account(dataset, self._budgets.get(dataset), entries, None, self._units.get(dataset))

    def at(self, location: str) -> Account:
        """Return the account of a file: what was charged without a name and belongs to no data set."""
        free = (entry for entry in self.history if entry.dataset is None and entry.location == location)
        return Account(None, None, tuple(free), location)

    def accounts(self) -> list[Account]:
        """Return all accounts: by name, then those without a name by location."""
        free = {str(entry.location) for entry in self.history if entry.dataset is None}
        return [*map(self.account, sorted(self.names)), *map(self.at, sorted(free))]

    def admitted(self, release: Entry) -> Account:
        """Return the account that a release is charged to, as it is before the charge. Raises BudgetError if it is refused.

        Without a name it is the data set of an earlier release of the same file, or the file itself. With one, it takes over
        the charges of the same file without a name that add up with the release.
        """
        if release.dataset is None:
            account = self._of_location(release)
            account.admit(release)
            return account
        account = self.account(release.dataset)
        free = () if release.location is None else self.at(release.location).entries
        more = [entry for entry in free if account.adds_up(entry, release)]
        account = replace(account, entries=tuple(sorted([*account.entries, *more], key=lambda entry: entry.number)))
        try:
            account.admit(release)
        except BudgetError as error:
            if not more:
                raise
            counted = f"(counting {number_of(len(more), 'releases')} of {readable(release.location)} without a name)"
            raise BudgetError(f"{error} {counted}", field=error.field, other_fields=error.other_fields) from None
        return account

    def _of_location(self, release: Entry) -> Account:
        """Return the account of a release without a name."""
        if release.location is None:
            raise ParameterError(
                "dataset is not set; the ledger can identify a log that is not a file only by name; set dataset",
                field="dataset",
            )
        earlier = (entry.dataset for entry in self.history if entry.location == release.location)
        accounts = [self.account(name) for name in dict.fromkeys(earlier) if name is not None]
        fitting = (each for each in accounts if each.entries and each.adds_up(each.entries[0], release))
        return next(fitting, accounts[0] if accounts else self.at(release.location))


@attrs.frozen
class Ledger:
    """A ledger file, created if it does not exist. A damaged or foreign file is refused and never written to.

    Args:
        path: The file.

    >>> import tempfile
    >>> ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.db")
    >>> print(ledger.create_budget("hospital", epsilon=2, delta="1e-6").remainder)
    ε = 2, δ = 1e-6 left of ε = 2, δ = 1e-6
    """

    path: Path = attrs.field(converter=Path)

    def __attrs_post_init__(self) -> None:
        with open_ledger(self.path, make_ledger):
            pass

    @classmethod
    def default(cls) -> Ledger:
        """Open the user's ledger, `default_path()`. Its directory is created if necessary.

        Returns:
            The ledger.
        """
        path = default_path()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise LedgerError(
                f"{path}: cannot be created ({error.strerror}); use another ledger", field="ledger"
            ) from None
        return cls(path)

    @classmethod
    def from_environment(cls) -> Ledger | None:
        """Open the ledger `TRAVAS_LEDGER`, the default in Python; None if it is not set.

        Returns:
            The ledger, or None.
        """
        return cls.default() if os.environ.get("TRAVAS_LEDGER") else None

    def create_account(self, dataset: str) -> Account:
        """Create a data set without a budget: its releases are recorded but not limited.

        Args:
            dataset: Its name. One that differs from an existing name only in case or width is refused.

        Returns:
            The empty account.
        """
        return self._create(dataset, None)

    def create_budget(
        self,
        dataset: str,
        *,
        epsilon: Number,
        delta: Number,
        composition: CompositionRule = "basic",
        span: BudgetSpan = "all",
    ) -> Account:
        """Set the budget of a data set, once. The data set is created if it does not exist.

        Args:
            dataset: Its name. Earlier charges count.
            epsilon: ε that all releases together may spend.
            delta: δ that all releases together may spend.
            composition: `basic` adds ε and δ; `exact` composes the privacy losses of releases fixed in advance.
            span: `year` for a budget of every calendar year (UTC); what was spent in different years adds up.

        Returns:
            The account.
        """
        return self._create(dataset, Budget(epsilon, delta, composition, span))

    def _create(self, dataset: str, budget: Budget | None) -> Account:
        name = check_name(dataset)
        with self._locked() as ledger:
            book = Book(ledger.records)
            if name not in book.names:
                alike = next((each for each in book.names if comparable(each) == comparable(name)), None)
                if alike is not None:
                    raise _taken(name, f"differs from the existing {alike!r} only in case or width")
                ledger.append({"kind": "data set", "time": now(), "dataset": name})
            elif budget is None:
                raise _taken(name, f"already exists in {self.path}")
            if budget is not None:
                _check_new_budget(book.account(name))
                ledger.append({"kind": "budget", "time": now(), "dataset": name, "budget": plain(budget)})
            return Book(ledger.records).account(name)

    def name_unit(self, dataset: str, unit_name: str, columns: Iterable[str] = ()) -> Account:
        """State what the persons of a data set are called, and which columns identify one of them, in any of its logs.

        The costs of releases for all these columns add up. The column of the first release needs no statement.

        Args:
            dataset: The name of an existing data set.
            unit_name: The noun for one person, such as `patient`; it is stated once.
            columns: The names of columns that identify such a person; they are added to those of earlier statements.

        Returns:
            The account.
        """
        unit, more = check_unit_name(unit_name), [check_name(name, "columns") for name in columns]
        with self._locked() as ledger:
            book = Book(ledger.records)
            there = book.account(book.name(dataset, self.path))
            if there.unit is not None and there.unit.name != unit:
                why = f"its unit is already called {there.unit.name!r}; use that name"
                raise ParameterError(f"{dataset}: {why}", field="unit_name")
            if any(entry.spending.unit.is_case for entry in there.entries):
                why = f"its releases protect single cases; use another data set for releases that protect one {unit}"
                raise ParameterError(f"{dataset}: {why}", field="unit_name")
            ledger.append({"kind": "unit", "time": now(), "dataset": there.dataset, "name": unit, "columns": more})
            return Book(ledger.records).account(str(there.dataset))

    def check(self, release: Entry) -> Account:
        """Raise the error that `charge` would raise. Nothing is charged.

        Args:
            release: The release: `Entry.of`.

        Returns:
            The account as it is before the charge.
        """
        with open_ledger(self.path) as ledger:
            return self._admitted(ledger, release)

    def charge(self, release: Entry, policy: Policy | None = None) -> Account:
        """Charge a release that is about to be drawn. The charge is on the disk when this returns.

        The first name used for a file takes over what was charged to the file without a name.
        Raises BudgetError, and charges nothing, if the budget does not allow it, or if the unit or the case differs
        from that of earlier releases.

        Args:
            release: The release: `Entry.of`.
            policy: The rules that the release must follow, such as the sum of a year: no other process can charge between
                their check and the charge.

        Returns:
            The account after the charge.
        """
        with self._locked() as ledger:
            account = self._admitted(ledger, release)
            if policy is not None:
                policy.check(release, account)
            number, rules = len(Book(ledger.records).history) + 1, None if policy is None else plain(policy)
            charged = replace(release, number=number, time=now(), dataset=account.dataset, policy=rules)
            takes = [entry.number for entry in account.entries if entry.dataset != account.dataset]
            ledger.append({"kind": "charge", "charge": plain(charged), "takes": takes})
            book = Book(ledger.records)  # before the end of the transaction: if it fails, nothing is charged
            return book.at(str(release.location)) if account.dataset is None else book.account(account.dataset)

    def account(self, dataset: str) -> Account:
        """Return what a data set may spend and has spent.

        Args:
            dataset: Its name.

        Returns:
            The account.
        """
        with open_ledger(self.path) as ledger:
            book = Book(ledger.records)
            return book.account(book.name(dataset, self.path))

    def accounts(self) -> list[Account]:
        """Return all accounts: by name, then those without a name by location.

        Returns:
            The accounts.
        """
        with open_ledger(self.path) as ledger:
            return Book(ledger.records).accounts()

    def history(self) -> list[Entry]:
        """Return all charges in order.

        Returns:
            The charges, the earliest first.
        """
        with open_ledger(self.path) as ledger:
            return list(Book(ledger.records).history)

    @contextmanager
    def _locked(self) -> Iterator[OpenLedger]:
        with open_ledger(self.path) as ledger, ledger.locked():
            yield ledger

    def _admitted(self, ledger: OpenLedger, release: Entry) -> Account:
        book = Book(ledger.records)
        name = None if release.dataset is None else book.name(release.dataset, self.path)
        return book.admitted(replace(release, dataset=name))


def _check_new_budget(account: Account) -> None:
    """Refuse a second budget, and one for an account whose costs are not known."""
    if account.budget is not None:
        raise _taken(account.label, f"already has a budget, {account.budget}, and a budget is never changed")
    if account.has_unknown_cost:
        why = "the guarantee of a release charged to it is not established, so what was spent is not known"
        raise _taken(account.label, why)


def _taken(name: str, why: str) -> ParameterError:
    return ParameterError(f"{name}: {why}; use another name", field="dataset")
