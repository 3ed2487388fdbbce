"""Release the trace variants of an event log under differential privacy, with a verified guarantee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .budget.account import Account, Budget, Entry
from .budget.ledger import Ledger
from .budget.plan import Plan, plan
from .errors import (
    BudgetError,
    ChargedError,
    EmptyLogError,
    LedgerError,
    LogError,
    MissingExtraError,
    OutputError,
    ParameterError,
    TravasError,
    VerificationError,
)
from .evaluation.compare import Comparison, compare
from .evaluation.forecast import Forecast, forecast
from .evaluation.metrics import absolute_log_difference, relative_log_similarity
from .mechanisms import mechanism
from .model.abstraction import Abstraction
from .model.mechanism import Mechanism
from .model.release import Release
from .model.variants import Summary, Variants, summary
from .pipeline import Outcome, Request, anonymize, run
from .privacy.guarantee import Guarantee, PrivacyUnit, Standing
from .sources.columns import Reading
from .sources.engine import read
from .verification.verify import verify

if TYPE_CHECKING:
    from .report.content import write_report

from ._version import __version__

__all__ = [
    "Abstraction",
    "Account",
    "Budget",
    "BudgetError",
    "ChargedError",
    "Comparison",
    "EmptyLogError",
    "Entry",
    "Forecast",
    "Guarantee",
    "Ledger",
    "LedgerError",
    "LogError",
    "Mechanism",
    "MissingExtraError",
    "Outcome",
    "OutputError",
    "ParameterError",
    "Plan",
    "PrivacyUnit",
    "Reading",
    "Release",
    "Request",
    "Standing",
    "Summary",
    "TravasError",
    "Variants",
    "VerificationError",
    "__version__",
    "absolute_log_difference",
    "anonymize",
    "compare",
    "forecast",
    "mechanism",
    "plan",
    "read",
    "relative_log_similarity",
    "run",
    "summary",
    "verify",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """The report is imported when it is wanted."""
    if name == "write_report":
        from .report.content import write_report

        return write_report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
