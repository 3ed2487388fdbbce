"""The public names. `travas` imports this module when one of them is first used: `import travas` itself is instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .budget.account import Account, Approval, Budget, Entry
from .budget.accounting import Spending
from .budget.ledger import Ledger
from .budget.periods import ChargedPeriod
from .budget.plan import Plan, plan
from .budget.policy import CheckedPolicy, CheckedRule, Policy, PolicyRule
from .errors import (
    BudgetError,
    ChargedError,
    EmptyLogError,
    LedgerError,
    LogError,
    MissingExtraError,
    OutputError,
    ParameterError,
    PolicyError,
    TravasError,
    VerificationError,
)
from .evaluation.compare import Comparison, compare
from .evaluation.forecast import Expected, Forecast, forecast
from .evaluation.metrics import absolute_log_difference, relative_log_similarity
from .functions import anonymize, process_map, read, synthesize
from .mechanisms import from_description, mechanism
from .mechanisms.ladder import Ladder
from .mechanisms.optimal import Optimal
from .mechanisms.prefix_tree import PrefixTree, TwoSidedNoise
from .mechanisms.sacofa import SaCoFa
from .mechanisms.travas import Travas
from .mechanisms.utravas import UTravas
from .model.abstraction import Abstraction, Grouped
from .model.abstraction.abstraction_steps import AbstractionStep, FlatLog
from .model.case_columns import CaseColumn
from .model.detail_options import Attribute, BudgetShares, Times
from .model.estimate import Estimate
from .model.keep_curve import KeepCurve
from .model.mechanism import Mechanism
from .model.questions import AttributeValues, CellQuestion
from .model.release import Release
from .model.totals import Details, Totals
from .model.traces import Activity, Trace
from .model.variants import Roles, Summary, Variants, summary
from .outputs.standard_output import StandardOutput
from .pipeline import Outcome, Phase, run
from .request import Request
from .search.calibration import StagePlan
from .search.gaussian_losses import GaussianLoss
from .search.person_tables import GaussianTable
from .sources.doctor.diagnosis import LogDiagnosis, Observation, ReadingChoice
from .sources.doctor.visit import doctor
from .sources.period import Period
from .sources.reading import Reading
from .trusted.guarantee import GroupStep, Guarantee, PrivacyUnit, Replacement, Standing
from .trusted.stage_check import GaussianNoise
from .trusted.stages import Calibration, Selection, Stage
from .trusted.tables import Noise, NoiseTable
from .trusted.unit_losses import LossStep, MeasurementLosses, SelectionLosses
from .verification.saved_release import open_release
from .verification.verify import Verified, verify

if TYPE_CHECKING:
    from .evaluation.audit import Audit, Finding, audit
    from .evaluation.details import AttributeDistance, DetailComparison, TimeDistance
    from .evaluation.map_comparison import MapComparison
    from .maps.map_counts import MapCounts
    from .maps.map_durations import MapDurations, Quartiles
    from .maps.map_measurements import MapMeasurements
    from .maps.map_release import MapActivity, MapNode, MapPair, MapRelease
    from .mechanisms.process_map import ProcessMap
    from .mechanisms.synthesis_mechanism import Synthesis
    from .report.report_file import write_report
    from .synthesis.attribute_measurements import AttributeMeasurements
    from .synthesis.detail_quality import AttributeQuality, DurationQuality, ThroughputQuality
    from .synthesis.measured_numbers import MeasuredNumber
    from .synthesis.measurements import Measurements
    from .synthesis.quality import LengthQuality, PairQuality, Quality
    from .synthesis.synthetic_release import SyntheticRelease
    from .synthesis.time_measurements import TimeMeasurements

from ._version import __version__

__all__ = [
    "Abstraction",
    "AbstractionStep",
    "Account",
    "Activity",
    "Approval",
    "Attribute",
    "AttributeDistance",
    "AttributeMeasurements",
    "AttributeQuality",
    "AttributeValues",
    "Audit",
    "Budget",
    "BudgetError",
    "BudgetShares",
    "Calibration",
    "CaseColumn",
    "CellQuestion",
    "ChargedError",
    "ChargedPeriod",
    "CheckedPolicy",
    "CheckedRule",
    "Comparison",
    "DetailComparison",
    "Details",
    "DurationQuality",
    "EmptyLogError",
    "Entry",
    "Estimate",
    "Expected",
    "Finding",
    "FlatLog",
    "Forecast",
    "GaussianLoss",
    "GaussianNoise",
    "GaussianTable",
    "GroupStep",
    "Grouped",
    "Guarantee",
    "KeepCurve",
    "Ladder",
    "Ledger",
    "LedgerError",
    "LengthQuality",
    "LogDiagnosis",
    "LogError",
    "LossStep",
    "MapActivity",
    "MapComparison",
    "MapCounts",
    "MapDurations",
    "MapMeasurements",
    "MapNode",
    "MapPair",
    "MapRelease",
    "MeasuredNumber",
    "MeasurementLosses",
    "Measurements",
    "Mechanism",
    "MissingExtraError",
    "Noise",
    "NoiseTable",
    "Observation",
    "Optimal",
    "Outcome",
    "OutputError",
    "PairQuality",
    "ParameterError",
    "Period",
    "Phase",
    "Plan",
    "Policy",
    "PolicyError",
    "PolicyRule",
    "PrefixTree",
    "PrivacyUnit",
    "ProcessMap",
    "Quality",
    "Quartiles",
    "Reading",
    "ReadingChoice",
    "Release",
    "Replacement",
    "Request",
    "Roles",
    "SaCoFa",
    "Selection",
    "SelectionLosses",
    "Spending",
    "Stage",
    "StagePlan",
    "StandardOutput",
    "Standing",
    "Summary",
    "Synthesis",
    "SyntheticRelease",
    "ThroughputQuality",
    "TimeDistance",
    "TimeMeasurements",
    "Times",
    "Totals",
    "Trace",
    "Travas",
    "TravasError",
    "TwoSidedNoise",
    "UTravas",
    "Variants",
    "VerificationError",
    "Verified",
    "__version__",
    "absolute_log_difference",
    "anonymize",
    "audit",
    "compare",
    "doctor",
    "forecast",
    "from_description",
    "mechanism",
    "open_release",
    "plan",
    "process_map",
    "read",
    "relative_log_similarity",
    "run",
    "summary",
    "synthesize",
    "verify",
    "write_report",
]
