"""The public names. `travas` imports this module when one of them is first used: `import travas` itself is instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from .mechanisms import from_description, mechanism
from .mechanisms.ladder import Ladder
from .mechanisms.optimal import Optimal
from .mechanisms.prefix_tree import PrefixTree
from .mechanisms.sacofa import SaCoFa
from .mechanisms.travas import Travas
from .mechanisms.utravas import UTravas
from .model.abstraction import Abstraction
from .model.mechanism import Mechanism
from .model.release import Release
from .model.variants import Summary, Variants, summary
from .pipeline import Outcome, Request, anonymize, run, synthesize
from .privacy.guarantee import Guarantee, PrivacyUnit, Standing
from .sources.columns import Reading
from .sources.engine import read
from .verification.verify import Verified, verify

if TYPE_CHECKING:
    from .mechanisms.synthesis import Synthesis
    from .report.report_file import write_report
    from .synthesis.synthetic_release import SyntheticRelease
    from .verification.synthetic_file import read_synthetic

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
    "Ladder",
    "Ledger",
    "LedgerError",
    "LogError",
    "Mechanism",
    "MissingExtraError",
    "Optimal",
    "Outcome",
    "OutputError",
    "ParameterError",
    "Plan",
    "PrefixTree",
    "PrivacyUnit",
    "Reading",
    "Release",
    "Request",
    "SaCoFa",
    "Standing",
    "Summary",
    "Synthesis",
    "SyntheticRelease",
    "Travas",
    "TravasError",
    "UTravas",
    "Variants",
    "VerificationError",
    "Verified",
    "__version__",
    "absolute_log_difference",
    "anonymize",
    "compare",
    "forecast",
    "from_description",
    "mechanism",
    "plan",
    "read",
    "read_synthetic",
    "relative_log_similarity",
    "run",
    "summary",
    "synthesize",
    "verify",
    "write_report",
]
