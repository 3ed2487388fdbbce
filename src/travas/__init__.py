"""Release the trace variants of an event log under differential privacy, with a verified guarantee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .abstractions import Abstraction
from .anonymize import anonymize
from .budget import Account, Budget, Entry
from .compare import Comparison, compare
from .engines import read
from .errors import (
    BudgetError,
    EmptyLogError,
    LedgerError,
    LogError,
    MissingExtraError,
    OutputError,
    ParameterError,
    TravasError,
    VerificationError,
)
from .forecast import Forecast, forecast
from .guarantee import verify
from .ledger import Ledger
from .logs.columns import Reading
from .mechanisms import mechanism
from .metrics import absolute_log_difference, relative_log_similarity
from .plan import Plan, plan
from .privacy import Guarantee, PrivacyUnit, Standing
from .release import Mechanism, Release
from .variants import Summary, Variants, summary

if TYPE_CHECKING:
    from .dossier import write_report

__version__ = "0.1.0"

__all__ = [
    "Abstraction",
    "Account",
    "Budget",
    "BudgetError",
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
    "OutputError",
    "ParameterError",
    "Plan",
    "PrivacyUnit",
    "Reading",
    "Release",
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
    "summary",
    "verify",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """The report is imported when it is wanted."""
    if name == "write_report":
        from .dossier import write_report

        return write_report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
