"""A small log, a mechanism of half a unit of ε, and its charge."""

from travas import Ledger
from travas.budget.account import Account, Entry
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import Mechanism

LOG = {("register", "visit", "release"): 20, ("register", "release"): 2}
HALF = mechanism("optimal", "0.5", "1e-6")


def charge(book: Ledger, dataset: str, rule: Mechanism, case: str = "case_id") -> Account:
    """A release of a log in memory."""
    return book.charge(Entry.of(dataset, None, rule, case))
