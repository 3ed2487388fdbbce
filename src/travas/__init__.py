"""Release event logs under differential privacy: as variants, synthetic logs or process maps, each with a guarantee.

A name is imported when it is first used, so that `import travas` is instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._version import __version__
    from .budget.account import Budget
    from .budget.ledger import Ledger
    from .budget.plan import plan
    from .budget.policy import Policy
    from .errors import BudgetError, ChargedError, LogError, ParameterError, TravasError
    from .evaluation.audit import audit
    from .evaluation.compare import compare
    from .evaluation.forecast import forecast
    from .functions import anonymize, process_map, read, synthesize
    from .log.abstraction import Abstraction
    from .log.log import Log
    from .log.options import Attribute, Times
    from .log.rules import Rules
    from .mechanisms import from_description
    from .mechanisms.ladder import Ladder
    from .mechanisms.mechanism import Mechanism
    from .mechanisms.prefix_tree import PrefixTree
    from .mechanisms.process_map import ProcessMap
    from .mechanisms.sacofa import SaCoFa
    from .mechanisms.selection import Optimal, Travas
    from .mechanisms.synthesis import Synthesis
    from .mechanisms.utravas import UTravas
    from .releases.process_map import MapRelease
    from .releases.release import Release, VariantRelease
    from .releases.synthetic_log import SyntheticRelease
    from .report.report_file import write_report
    from .sources.doctor.examination import doctor
    from .sources.period import Period
    from .sources.reading import Reading
    from .trusted.guarantee import Guarantee, PrivacyUnit, Standing
    from .verification.opened import open_release
    from .verification.verify import verify

__all__ = [
    "Abstraction",
    "Attribute",
    "Budget",
    "BudgetError",
    "ChargedError",
    "Guarantee",
    "Ladder",
    "Ledger",
    "Log",
    "LogError",
    "MapRelease",
    "Mechanism",
    "Optimal",
    "ParameterError",
    "Period",
    "Policy",
    "PrefixTree",
    "PrivacyUnit",
    "ProcessMap",
    "Reading",
    "Release",
    "Rules",
    "SaCoFa",
    "Standing",
    "Synthesis",
    "SyntheticRelease",
    "Times",
    "Travas",
    "TravasError",
    "UTravas",
    "VariantRelease",
    "__version__",
    "anonymize",
    "audit",
    "compare",
    "doctor",
    "forecast",
    "from_description",
    "open_release",
    "plan",
    "process_map",
    "read",
    "synthesize",
    "verify",
    "write_report",
]

_MODULES = {
    "_version": "__version__",
    "budget.account": "Budget",
    "budget.ledger": "Ledger",
    "budget.plan": "plan",
    "budget.policy": "Policy",
    "errors": "BudgetError ChargedError LogError ParameterError TravasError",
    "evaluation.audit": "audit",
    "evaluation.compare": "compare",
    "evaluation.forecast": "forecast",
    "functions": "anonymize process_map read synthesize",
    "log.abstraction": "Abstraction",
    "log.log": "Log",
    "log.options": "Attribute Times",
    "log.rules": "Rules",
    "mechanisms": "from_description",
    "mechanisms.ladder": "Ladder",
    "mechanisms.mechanism": "Mechanism",
    "mechanisms.prefix_tree": "PrefixTree",
    "mechanisms.process_map": "ProcessMap",
    "mechanisms.sacofa": "SaCoFa",
    "mechanisms.selection": "Optimal Travas",
    "mechanisms.synthesis": "Synthesis",
    "mechanisms.utravas": "UTravas",
    "releases.process_map": "MapRelease",
    "releases.release": "Release VariantRelease",
    "releases.synthetic_log": "SyntheticRelease",
    "report.report_file": "write_report",
    "sources.doctor.examination": "doctor",
    "sources.period": "Period",
    "sources.reading": "Reading",
    "trusted.guarantee": "Guarantee PrivacyUnit Standing",
    "verification.opened": "open_release",
    "verification.verify": "verify",
}
"""Where the public names are defined."""

_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
