"""Release the trace variants of an event log under differential privacy, with a verified guarantee."""

from __future__ import annotations

from .anonymize import anonymize
from .budget import Account, Budget, Entry
from .compare import Comparison, compare
from .dossier import write_report
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
from .guarantee import verify
from .ledger import Ledger
from .logs.columns import Reading
from .mechanisms import mechanism
from .metrics import absolute_log_difference, relative_log_similarity
from .plan import Plan, plan
from .privacy import Guarantee, PrivacyUnit, Standing
from .release import Mechanism, Release
from .variants import Summary, Variants, summary

__version__ = "0.1.0"

__all__ = [
    "Account",
    "Budget",
    "BudgetError",
    "Comparison",
    "EmptyLogError",
    "Entry",
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
    "mechanism",
    "plan",
    "read",
    "relative_log_similarity",
    "summary",
    "verify",
    "write_report",
]
