"""Release the trace variants of an event log under differential privacy, with a verified guarantee."""

from __future__ import annotations

from .abstractions import Abstraction
from .anonymize import anonymize
from .compare import Comparison, compare
from .engines import read
from .errors import (
    EmptyLogError,
    LogError,
    MissingExtraError,
    OutputError,
    ParameterError,
    TravasError,
    VerificationError,
)
from .forecast import Forecast, forecast
from .guarantee import verify
from .logs.columns import Reading
from .mechanisms import mechanism
from .metrics import absolute_log_difference, relative_log_similarity
from .privacy import Guarantee, PrivacyUnit, Standing
from .release import Mechanism, Release
from .variants import Summary, Variants, summary

__version__ = "0.1.0"

__all__ = [
    "Abstraction",
    "Comparison",
    "EmptyLogError",
    "Forecast",
    "Guarantee",
    "LogError",
    "Mechanism",
    "MissingExtraError",
    "OutputError",
    "ParameterError",
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
    "read",
    "relative_log_similarity",
    "summary",
    "verify",
]
