"""What the steps keep of a log in addition to the recipe. Forgotten with the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...evaluation.kinds import Coverage
from ...sources.doctor.diagnosis import LogDiagnosis
from ..jobs import Job

StepName = Literal["log", "columns", "protect", "forecast", "confirm", "result"]
"""A step, by its part of the address."""


@dataclass(eq=False)
class StepsState:
    """What was found out about the log, and what the user has seen of it. Confidential.

    Attributes:
        examination: The doctor's visit, while it runs and after it.
        diagnosis: What the doctor found.
        unexamined: Why there is no diagnosis after the visit.
        coverage: The forecast that has read the log.
        shows_values: Whether the values of the first rows are shown.
        without_account: Whether a file is counted by its path, without a name and a budget, by explicit choice.
        signed_off_by: Who has signed off the release.
    """

    examination: Job | None = None
    diagnosis: LogDiagnosis | None = None
    unexamined: str = ""
    coverage: Coverage | None = None
    shows_values: bool = False
    without_account: bool = False
    signed_off_by: str = ""

    def close(self) -> None:
        """End what runs."""
        if self.examination is not None:
            self.examination.kill()
