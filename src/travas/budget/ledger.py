"""The ledger: what was spent on which data set. Data sets are identified by name or location, never by content.

A charge is on the disk before any noise is drawn. Every operation opens, checks and closes the file, so that processes
share nothing but the file, which SQLite locks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path

import attrs

from ..errors import BudgetError, LedgerError, ParameterError
from ..model.mechanism import Mechanism
from ..sources.table_location import LogLocation
from ..trusted.numbers import Number
from .account import NO_APPROVAL, Account, Approval, Budget, CompositionRule, Entry, check_name, comparable, readable
from .accounting import Spending, compose
from .book import Book, Key
from .ledger_file import make_ledger, open_ledger
from .periods import ChargedPeriod
from .records import Assigned, Charged, Created, Limited, Respelled, now

AccountCheck = Callable[[Account], None]
"""Raises an error if a release may not be charged to the account, which is shown as it is before the charge."""


def _any_account(account: Account) -> None:
    """Allow every charge."""


def default_path() -> Path:
    """Return `TRAVAS_LEDGER`, or `travas/ledger.db` in the user's data directory."""
    if path := os.environ.get("TRAVAS_LEDGER"):
        return Path(path)
    try:
        base = data_directory()
    except RuntimeError:
        raise LedgerError("there is no home directory for the ledger; set TRAVAS_LEDGER", field="ledger") from None
    return base / "travas" / "ledger.db"


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


def _path(path: str | os.PathLike[str]) -> Path:
    return Path(path)


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

    path: Path = attrs.field(converter=_path)

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
            dataset: Its name. One that differs from an existing name only in case or look is refused.

        Returns:
            The empty account.
        """
        name = check_name(dataset)
        with open_ledger(self.path) as ledger, ledger.locked() as book:
            if name in book.names:
                raise ParameterError(
                    f"{name}: already exists in {self.path}; use it, or choose another name", field="dataset"
                )
            _check_unambiguous(book, name)
            ledger.append(Created(now(), name))
            return ledger.book.account(Key(name))

    def create_budget(
        self, dataset: str, *, epsilon: Number, delta: Number, composition: CompositionRule = "basic"
    ) -> Account:
        """Set the budget of a data set, once. The data set is created if it does not exist.

        Args:
            dataset: Its name. Earlier charges count.
            epsilon: ε that all releases together may spend.
            delta: δ that all releases together may spend.
            composition: `basic` adds ε and δ; `exact` composes the privacy losses (extra `accounting`).

        Returns:
            The account.
        """
        budget = Budget(epsilon, delta, composition)
        name = check_name(dataset)
        if composition == "exact":
            compose(())  # detects a missing extra now rather than at the first release
        with open_ledger(self.path) as ledger, ledger.locked() as book:
            if name not in book.names:
                _check_unambiguous(book, name)
            there = book.account(Key(name))
            if there.dataset != name:
                raise ParameterError(f"{name}: was assigned to {there.label!r}; use that name", field="dataset")
            if there.budget is not None:
                raise ParameterError(
                    f"{name}: already has a budget, {there.budget}, and a budget is never changed; use another name",
                    field="dataset",
                )
            if there.has_unknown_cost:
                raise ParameterError(
                    f"{name}: the guarantee of a release charged to it is not established, so what was spent is not "
                    "known; use another name",
                    field="dataset",
                )
            ledger.append(Limited(now(), name, str(budget.epsilon), str(budget.delta), budget.composition))
            return ledger.book.account(Key(name))

    def assign(self, old: str, dataset: str) -> Account:
        """Move all past and future charges of an account to a data set.

        Args:
            old: A location, a name without a budget, or a name that version 1 derived from the content of a log.
            dataset: The name of an existing data set.

        Returns:
            The account of `dataset` with all charges.
        """
        with open_ledger(self.path) as ledger, ledger.locked() as book:
            name = book.name(dataset, self.path)
            location = next((recorded for recorded in book.locations if readable(recorded) == old), old)
            key = Key(old) if old in book.names else Key(None, location)
            if key.dataset is None and (root := book.root(key)).dataset is None:
                key = root  # all spellings of the location
            source, target = book.account(key), book.account(Key(name))
            if not source.entries:
                raise ParameterError(
                    f"{old}: nothing was charged to it; `travas budget show` lists all accounts", field="old"
                )
            if source.budget is not None:
                raise ParameterError(f"{old}: has a budget, so its charges cannot be moved", field="old")
            if source == target:
                raise ParameterError(f"{old}: already belongs to {target.label!r}", field="old")
            _check_merge(source, target, field="old")
            ledger.append(Assigned(now(), key.dataset, key.location, name))
            return ledger.book.account(Key(name))

    def check(
        self,
        dataset: str | None,
        location: LogLocation | None,
        mechanism: Mechanism,
        case: str,
        period: ChargedPeriod | None = None,
    ) -> Account:
        """Raise the error that `charge` would raise. Nothing is charged.

        Args:
            dataset: The name of the data set, or None to charge the account of the location.
            location: Where the log is, or None if it is in memory: `location_of`, or `table_location` of a database.
            mechanism: The mechanism of the release.
            case: What a case is, `Roles.defined_case`; empty if it is not known.
            period: The period of a release of one period: `ChargedPeriod.of`.

        Returns:
            The account as it is before the charge.
        """
        spending = Spending.of(mechanism)
        with open_ledger(self.path) as ledger:
            return self._admitted(ledger.book, dataset, location, spending, case, period)[0]

    def charge(
        self,
        dataset: str | None,
        location: LogLocation | None,
        mechanism: Mechanism,
        case: str,
        period: ChargedPeriod | None = None,
        approval: Approval = NO_APPROVAL,
        check: AccountCheck = _any_account,
    ) -> Account:
        """Charge a release that is about to be drawn. The charge is on the disk when this returns.

        The first name used for a location takes over what was charged to the location without a name.
        Raises BudgetError, and charges nothing, if the budget does not allow it, or if the unit or the case differs
        from that of earlier releases.

        Args:
            dataset: The name of the data set, or None to charge the account of the location.
            location: Where the log is, or None if it is in memory: `location_of`, or `table_location` of a database.
            mechanism: The mechanism of the release.
            case: What a case is, `Roles.defined_case`; empty if it is not known.
            period: The period of a release of one period: `ChargedPeriod.of`.
            approval: The reason of the release, and who has signed it off.
            check: A further condition, such as the sum of a year: no other process can charge between it and the charge.

        Returns:
            The account after the charge.
        """
        spending, least = Spending.of(mechanism), mechanism.parameters().get("minimum_cases")
        with open_ledger(self.path) as ledger:
            self._admitted(ledger.book, dataset, location, spending, case, period)  # slow imports come before the lock
            with ledger.locked() as book:
                account, assigned = self._admitted(book, dataset, location, spending, case, period)
                check(account)
                key = Key(account.dataset, account.location)
                ledger.append(*assigned, _charged(key, spending, least, case, period, approval))
                return ledger.book.account(key)  # before the end of the transaction: if it fails, nothing is charged

    def account(self, dataset: str) -> Account:
        """Return what a data set may spend and has spent.

        Args:
            dataset: Its name.

        Returns:
            The account.
        """
        with open_ledger(self.path) as ledger:
            return ledger.book.account(Key(ledger.book.name(dataset, self.path)))

    def accounts(self) -> list[Account]:
        """Return all accounts: by name, then those without a name by location.

        Returns:
            The accounts.
        """
        with open_ledger(self.path) as ledger:
            return ledger.book.accounts()

    def history(self) -> list[Entry]:
        """Return all charges in order.

        Returns:
            The charges, the earliest first.
        """
        with open_ledger(self.path) as ledger:
            return list(ledger.book.entries())

    def _admitted(
        self,
        book: Book,
        dataset: str | None,
        location: LogLocation | None,
        spending: Spending,
        case: str,
        period: ChargedPeriod | None,
    ) -> tuple[Account, tuple[Assigned | Respelled, ...]]:
        """Return the account to charge, and what must be assigned to it first."""
        claim = book.claim(None if dataset is None else book.name(dataset, self.path), location)
        taken_over = [account for key in claim.taken_over if (account := book.account(key)).entries]
        for target, source in combinations((book.account(claim.key), *taken_over), 2):
            _check_merge(source, target, field="dataset")
        for account in taken_over:
            account.admit(spending, case or None, period)  # its remedy is another one
        records = claim.records(now())
        account = book.plus(*records).account(claim.key)
        try:
            account.admit(spending, case or None, period)
        except BudgetError as error:
            if not taken_over:
                raise
            number = sum(len(account.entries) for account in taken_over)
            counted = f"{number} earlier release{'s' if number > 1 else ''}"
            where = " and ".join(account.label for account in taken_over)
            raise BudgetError(f"{error} (counting {counted} of {where} without a name)", field=error.field) from None
        return account, records


def _check_unambiguous(book: Book, name: str) -> None:
    for existing in book.names:
        if comparable(existing) == comparable(name):
            raise ParameterError(
                f"{name}: differs from the existing {existing!r} only in case or look; use another name",
                field="dataset",
            )


def _check_merge(source: Account, target: Account, field: str) -> None:
    """Raise ParameterError if the charges of two accounts do not compose. `field` is what the user stated."""
    if target.budget is not None and source.has_unknown_cost:
        raise ParameterError(
            f"{source.label}: the guarantee of one of its releases is not established, so its cost cannot be counted "
            f"against the budget of {target.label!r}; assign it to a data set without a budget ({source.assignment})",
            field=field,
        )
    both = (*source.entries, *target.entries)
    units = sorted({entry.spending.unit.name for entry in both})
    cases = sorted({entry.case for entry in both if entry.case is not None})
    for what, values in (("unit", units), ("case", cases)):
        if len(values) > 1:
            raise ParameterError(
                f"{source.label}: the releases would have the {what} {' and '.join(map(repr, values))}; such guarantees "
                f"do not compose; assign it to another data set ({source.assignment})",
                field=field,
            )
    for entry, other in product(source.entries, target.entries):
        if entry.period and other.period and entry.spending.unit.is_case:
            reason = entry.period.conflict(other.period)
            if reason is not None:
                raise ParameterError(
                    f"{source.label}: {reason}; assign it to another data set ({source.assignment})", field=field
                )


def _charged(
    key: Key, spending: Spending, least: object, case: str, period: ChargedPeriod | None, approval: Approval
) -> Charged:
    from .._version import __version__

    return Charged(
        time=now(),
        dataset=key.dataset,
        location=key.location,
        mechanism=spending.mechanism,
        epsilon=str(spending.epsilon),
        delta=str(spending.delta),
        unit=spending.unit.name,
        max_cases=spending.unit.max_cases,
        case=case or None,
        minimum_cases=least if isinstance(least, int) else None,
        standing=str(spending.standing),
        software=f"travas {__version__}",
        period=None if period is None else period.describe(),
        reason=approval.reason or None,
        signed_off_by=approval.signed_off_by or None,
        reference=approval.reference or None,
        description=dict(spending.description),
    )
