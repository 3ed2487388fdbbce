"""Release event logs under differential privacy: as variants, synthetic logs or process maps, each with a guarantee."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .public import *  # noqa: F403
    from .public import __all__ as __all__
else:
    _LATE = {
        "Audit": "travas.evaluation.audit",
        "Finding": "travas.evaluation.audit",
        "audit": "travas.evaluation.audit",
        "AttributeDistance": "travas.evaluation.details",
        "AttributeMeasurements": "travas.synthesis.attribute_measurements",
        "AttributeQuality": "travas.synthesis.detail_quality",
        "DetailComparison": "travas.evaluation.details",
        "DurationQuality": "travas.synthesis.detail_quality",
        "LengthQuality": "travas.synthesis.quality",
        "MapActivity": "travas.maps.map_release",
        "MapComparison": "travas.evaluation.map_comparison",
        "MapCounts": "travas.maps.map_counts",
        "MapDurations": "travas.maps.map_durations",
        "MapMeasurements": "travas.maps.map_measurements",
        "MapNode": "travas.maps.map_release",
        "MapPair": "travas.maps.map_release",
        "MapRelease": "travas.maps.map_release",
        "MeasuredNumber": "travas.synthesis.measured_numbers",
        "Measurements": "travas.synthesis.measurements",
        "PairQuality": "travas.synthesis.quality",
        "ProcessMap": "travas.mechanisms.process_map",
        "Quality": "travas.synthesis.quality",
        "Quartiles": "travas.maps.map_durations",
        "Synthesis": "travas.mechanisms.synthesis_mechanism",
        "SyntheticRelease": "travas.synthesis.synthetic_release",
        "ThroughputQuality": "travas.synthesis.detail_quality",
        "TimeDistance": "travas.evaluation.details",
        "TimeMeasurements": "travas.synthesis.time_measurements",
        "write_report": "travas.report.report_file",
    }

    def __getattr__(name: str) -> Any:
        """A public name, imported when it is first used: the command line can handle Ctrl-C before anything is imported."""
        if name in _LATE:  # they import numpy or the report, which not every program needs
            return getattr(import_module(_LATE[name]), name)
        try:
            return getattr(import_module("travas.public"), name)
        except AttributeError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

    def __dir__() -> list[str]:
        return sorted({*globals(), *import_module("travas.public").__all__})
