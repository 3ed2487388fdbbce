"""The ledger: what was spent on which data set. One SQLite file, append-only, nothing of a log but a keyed digest.

A charge is on the disk before any noise is drawn. Every operation opens the file, checks it and closes it again, so
that nothing is shared between processes but the file itself, which SQLite locks.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import LedgerError, ParameterError, TravasError
from ..model.mechanism import Mechanism
from ..model.variants import Variants
from ..privacy.guarantee import PrivacyUnit, Standing
from ..privacy.numbers import Number, exact_delta, exact_epsilon
from .account import Account, Budget, CompositionRule, Entry, check_name
from .accounting import Spending, compose
from .fingerprint import fingerprint

if TYPE_CHECKING:
    import sqlite3

APPLICATION = 0x74726176  # "trav", in the file's header
BUSY_SECONDS = 60.0

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE identity (key BLOB NOT NULL)",
        """CREATE TABLE budget (
            dataset TEXT PRIMARY KEY, time TEXT NOT NULL,
            epsilon TEXT NOT NULL, delta TEXT NOT NULL, composition TEXT NOT NULL)""",
        """CREATE TABLE charge (
            number INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, time TEXT NOT NULL,
            mechanism TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, unit TEXT NOT NULL,
            max_cases INTEGER NOT NULL, minimum_cases INTEGER, standing TEXT NOT NULL, software TEXT NOT NULL)""",
        "CREATE INDEX charge_dataset ON charge (dataset)",
        *(
            f"CREATE TRIGGER {table}_{event.lower()} BEFORE {event} ON {table} "
            "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            for table in ("identity", "budget", "charge")
            for event in ("UPDATE", "DELETE")
        ),
    ),
)
"""What leads from each version of the schema to the next. An entry is never changed once it was released."""

_ENTRY = "number, dataset, time, mechanism, epsilon, delta, unit, max_cases, minimum_cases, standing, software"
_FRACTION = re.compile(r"[0-9]+(/[1-9][0-9]*)?", re.ASCII)


def default_path() -> Path:
    """`TRAVAS_LEDGER`, or `travas/ledger.db` in the user's data directory."""
    if given := os.environ.get("TRAVAS_LEDGER"):
        return Path(given)
    try:
        base = _data_directory()
    except RuntimeError:
        raise LedgerError("there is no home directory to keep the ledger in; give --ledger FILE") from None
    return base / "travas" / "ledger.db"


def _data_directory() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    given = Path(os.environ.get("XDG_DATA_HOME") or "")
    return given if given.is_absolute() else Path.home() / ".local" / "share"


@dataclass(frozen=True)
class Ledger:
    """The ledger in this file, made if there is none. A damaged or foreign file is refused and never written to.

    >>> import tempfile
    >>> ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.db")
    >>> print(ledger.create_budget("hospital", epsilon=2, delta="1e-6").remainder)
    ε = 2, δ = 1e-6 left of ε = 2, δ = 1e-6
    """

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        with self._open(self._make):
            pass

    @classmethod
    def default(cls) -> Ledger:
        """The user's own: see `default_path`. Its directory is made, too."""
        path = default_path()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise LedgerError(f"{path}: cannot be made ({error.strerror}); give --ledger FILE") from None
        return cls(path)

    def create_budget(
        self, dataset: str, *, epsilon: Number, delta: Number, composition: CompositionRule = "basic"
    ) -> Account:
        """Give a data set a budget, once. What was charged to it before counts."""
        budget = Budget(exact_epsilon(epsilon), exact_delta(delta), composition)
        check_name(dataset)
        if composition == "exact":
            compose(())  # a missing extra is found out now, not at the first release
        with self._open() as connection, _locked(connection):
            if (there := self._account(connection, dataset)).budget is not None:
                raise ParameterError(
                    f"{dataset}: has a budget already, {there.budget}, and a budget is never changed; take another name"
                )
            if any(entry.standing is Standing.NOT_ESTABLISHED for entry in there.entries):
                raise ParameterError(
                    f"{dataset}: the guarantee of a release charged to it is not established, so what was spent is not "
                    "known; take another name"
                )
            row = (dataset, _now(), str(budget.epsilon), str(budget.delta), budget.composition)
            connection.execute("INSERT INTO budget VALUES (?, ?, ?, ?, ?)", row)
            return self._account(connection, dataset)

    def charge(self, dataset: str, mechanism: Mechanism) -> Account:
        """Charge a data set with a release that is about to be drawn; it is on the disk when this returns.

        Raises BudgetError, and charges nothing, if the budget does not allow it.
        """
        from .._version import __version__

        spending, least = _spending(mechanism), mechanism.parameters().get("minimum_cases")
        standing = mechanism.guarantee().standing
        values = (
            _checked(dataset), _now(), spending.mechanism, str(spending.epsilon), str(spending.delta), spending.unit.name,
            spending.unit.max_cases, least if isinstance(least, int) else None, str(standing),
            f"travas {__version__}",
        )  # fmt: skip
        with self._open() as connection:
            self._account(connection, dataset).admit(
                spending, standing
            )  # slow imports happen before the file is locked
            with _locked(connection):
                self._account(connection, dataset).admit(spending, standing)
                connection.execute(
                    f"INSERT INTO charge ({_ENTRY}) VALUES (NULL, {', '.join('?' * len(values))})", values
                )
            return self._account(connection, dataset)

    def check(self, dataset: str, mechanism: Mechanism) -> None:
        """Raise BudgetError if this release would be refused now. Charges nothing."""
        self.account(dataset).admit(_spending(mechanism), mechanism.guarantee().standing)

    def account(self, dataset: str) -> Account:
        """What a data set may spend and has spent. One that was never charged has an empty account."""
        _checked(dataset)
        with self._open() as connection:
            return self._account(connection, dataset)

    def accounts(self) -> list[Account]:
        """All data sets, by name."""
        with self._open() as connection:
            names = connection.execute(
                "SELECT dataset FROM budget UNION SELECT dataset FROM charge ORDER BY 1"
            ).fetchall()
            return [self._account(connection, name) for (name,) in names]

    def history(self) -> list[Entry]:
        """Everything that was charged, in order."""
        with self._open() as connection:
            return self._entries(connection, "", ())

    def dataset_of(self, variants: Variants) -> str:
        """The name of a log that has none: a digest of its variants and counts under this ledger's key.

        It depends on nothing else: not on the file's format, on the order of cases or on how activities are coded.
        """
        with self._open() as connection:
            (key,) = connection.execute("SELECT key FROM identity").fetchone()
        return f"log:{fingerprint(variants, key)[:32]}"

    # ------------------------------------------------------------------------------------------------ the file

    @contextmanager
    def _open(self, missing: Callable[[], None] | None = None) -> Iterator[sqlite3.Connection]:
        """The file, checked. Whatever SQLite says becomes one line of ours.

        `missing` is called if there is none. A ledger that was there and is not any more is an error, not a new start.
        """
        import sqlite3

        try:
            if missing is not None and not os.path.lexists(self.path):
                missing()
            if self.path.is_dir():
                raise LedgerError(f"{self.path}: is a directory; give the file of a ledger, such as ledger.db in it")
            if not self.path.is_file():
                raise LedgerError(f"{self.path}: is gone, or is not a file; bring it back, or give another ledger")
            connection = self._connect(self.path)
            try:
                self._check_file(connection)
                yield connection
            finally:
                connection.close()  # what was not committed is rolled back
        except TravasError:
            raise
        except sqlite3.Error as error:
            raise self._explain(getattr(error, "sqlite_errorname", "")) from None
        except (ValueError, TypeError):
            raise LedgerError(f"{self.path}: is damaged, or its name is no path; give another ledger") from None
        except OSError as error:
            raise LedgerError(f"{self.path}: cannot be opened ({error.strerror}); give another ledger") from None

    def _connect(self, path: Path) -> sqlite3.Connection:
        import sqlite3

        connection = sqlite3.connect(
            path.absolute().as_uri() + "?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None
        )
        connection.execute("PRAGMA synchronous = EXTRA")
        return connection

    def _check_file(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION or version < 1:
            raise LedgerError(f"{self.path}: is not a ledger of travas, and is left as it is; give another file")
        if version > len(MIGRATIONS):
            raise LedgerError(f"{self.path}: a ledger of version {version}, I know {len(MIGRATIONS)}; update travas")
        connection.execute("BEGIN")  # nobody may write between the questions
        (pages,), (size,) = (connection.execute(f"PRAGMA page_{what}").fetchone() for what in ("count", "size"))
        sound = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        if not sound or self.path.stat().st_size < pages * size:  # a page cut short is zeros to SQLite
            raise self._explain("SQLITE_CORRUPT")
        connection.execute("COMMIT")
        if version < len(MIGRATIONS):
            _migrate(connection)

    def _make(self) -> None:
        """Build the file under another name and give it its own in one step: never half a ledger, never one replaced."""
        import tempfile

        descriptor, name = tempfile.mkstemp(prefix=".ledger-", dir=self.path.parent)  # for its owner only
        os.close(descriptor)
        try:
            connection = self._connect(Path(name))
            try:
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                _migrate(connection)
                connection.execute("INSERT INTO identity VALUES (?)", (os.urandom(32),))
            finally:
                connection.close()
            with suppress(FileExistsError):  # another process was faster: its ledger is as good
                os.link(name, self.path)
        finally:
            for left in (Path(name), Path(f"{name}-journal")):
                left.unlink(missing_ok=True)
        if os.name == "posix":
            directory = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)

    def _explain(self, code: str) -> LedgerError:
        reasons = {
            "SQLITE_BUSY": f"another process has held it for {BUSY_SECONDS:.0f} seconds; try again",
            "SQLITE_READONLY": "may not be written to; check your rights, or give another ledger",
            "SQLITE_CANTOPEN": "cannot be opened, or its directory not be written to; check your rights",
            "SQLITE_FULL": "the disk is full; make room",
            "SQLITE_IOERR": "the disk is full or failing; make room, or give another ledger",
            "SQLITE_NOTADB": "is not a ledger of travas, and is left as it is; give another file",
        }
        known = next((text for prefix, text in reasons.items() if code.startswith(prefix)), None)
        return LedgerError(f"{self.path}: {known or 'is damaged; restore it from a backup'}")

    # ------------------------------------------------------------------------------------------------ its lines

    def _account(self, connection: sqlite3.Connection, dataset: str) -> Account:
        row = connection.execute(
            "SELECT epsilon, delta, composition FROM budget WHERE dataset = ?", (dataset,)
        ).fetchone()
        budget = None if row is None else Budget(_fraction(row[0]), _fraction(row[1]), row[2])
        return Account(dataset, budget, tuple(self._entries(connection, "WHERE dataset = ?", (dataset,))))

    def _entries(self, connection: sqlite3.Connection, where: str, values: tuple[str, ...]) -> list[Entry]:
        return [
            Entry(
                number, time, dataset,
                Spending(mechanism, _fraction(epsilon), _fraction(delta), _unit(unit, max_cases)),
                minimum_cases, Standing(standing), software,
            )
            for number, dataset, time, mechanism, epsilon, delta, unit, max_cases, minimum_cases, standing, software
            in connection.execute(f"SELECT {_ENTRY} FROM charge {where} ORDER BY number", values)
        ]  # fmt: skip


@contextmanager
def _locked(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that nobody else can interleave with; on the disk, the directory included, when it ends."""
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("COMMIT")


def _migrate(connection: sqlite3.Connection) -> None:
    """From whatever version the file has to ours, in one transaction: a crash leaves the old one."""
    with _locked(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()  # another process may have been faster
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {max(version, len(MIGRATIONS))}")


def _spending(mechanism: Mechanism) -> Spending:
    guarantee = mechanism.guarantee()
    return Spending(guarantee.mechanism, guarantee.epsilon, guarantee.delta, guarantee.unit)


def _unit(name: Any, max_cases: Any) -> PrivacyUnit:
    try:
        return PrivacyUnit(name, max_cases)
    except ParameterError:
        raise ValueError("not a unit") from None


def _checked(dataset: str) -> str:
    """A name, or what `dataset_of` gave."""
    return dataset if re.fullmatch(r"log:[0-9a-f]{32}", dataset) else check_name(dataset)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _fraction(text: Any) -> Fraction:
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ValueError("not a fraction")
    return Fraction(text)
