"""A function of pm4py with a verified guarantee: a program changes one import. pm4py itself is not imported.

ε and δ have defaults here, and only here: the signature is that of pm4py, whose programs call it without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from .budget.ledger import Ledger
from .errors import MissingExtraError
from .explain import in_a_phrase
from .functions import outcome_of
from .log.abstraction import FULL, Abstraction
from .log.options import Attribute, Times
from .pipeline import Request
from .sources.reading import Reading
from .trusted.numbers import Number, whole_number

if TYPE_CHECKING:
    import pandas as pd

    from .releases.synthetic_log import SyntheticRelease

GUARANTEE = "travas:guarantee"
"""The key in the attributes of the data frame under which its guarantee is stated."""


def anonymize_differential_privacy(
    log: Any,
    epsilon: Number = 1,
    k: int | None = None,
    p: int | None = None,
    *,
    delta: Number = "1e-6",
    attributes: Sequence[Attribute | str] = (),
    event_attributes: Sequence[Attribute | str] = (),
    unit: str | None = None,
    max_cases: int | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
) -> pd.DataFrame:
    """Release an event log under (ε, δ)-differential privacy: `pm4py.privacy.anonymize_differential_privacy` with a proof.

    The result is a synthetic log: its traces and times are generated from noisy measurements, and no event in it is that
    of a real case. What pm4py returns instead is SaCoFa with PRIPEL, whose guarantee is not established: docs/synthesis.md.
    """
    from .mechanisms.synthesis import Synthesis  # it imports numpy

    rule = FULL if k is None else Abstraction.parse(f"prefix:{whole_number(k, 'k', 1)}")
    least = whole_number(p or 0, "p", 0)
    _check_pandas()
    outcome = outcome_of(
        Request(
            source=log,
            mechanism=Synthesis(
                epsilon, delta, times=Times(), attributes=attributes, event_attributes=event_attributes
            ),
            times="if recorded",
            reading=Reading(abstraction=rule, unit=unit, max_cases=max_cases),
            ledger=ledger or Ledger.from_environment(),
            dataset=dataset,
        )
    )
    with outcome.after_release():
        return _as_pm4py(cast("SyntheticRelease", outcome.release), least)


def _check_pandas() -> None:
    """Raise MissingExtraError now, rather than after the charge."""
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("a pandas DataFrame", "pandas") from None


def _as_pm4py(release: SyntheticRelease, least: int) -> pd.DataFrame:
    """Return the log without rare variants, with its guarantee: post-processing."""
    import numpy as np

    frame = release.to_pandas()
    if least:
        kept = np.repeat(np.array(release.counts) >= least, release.counts)  # by case, in the order of the frame
        lengths = np.repeat([len(trace) for trace in release.variants], release.counts)
        notes = dict(frame.attrs)
        frame = frame[np.repeat(kept, lengths)].reset_index(drop=True)
        frame.attrs.update(notes)
    frame.attrs[GUARANTEE] = in_a_phrase(release.guarantee)
    return frame
