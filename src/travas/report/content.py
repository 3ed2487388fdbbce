"""The content of a report, from public files alone. The layout is in document.py and the template.

Schema of the machine-readable block: docs/report.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..budget.account import Account
from ..budget.policy import Policy
from ..errors import VerificationError
from ..model import explain
from ..model.abstraction import FULL, Abstraction
from ..model.estimate import Estimate
from ..model.mechanism import Mechanism
from ..model.release import check_frequencies
from ..model.traces import Trace
from ..sources.formats import RELEASE_SUFFIXES, suffix_of
from ..verification.verify import load, stated_abstractions, verify
from .decision import ReleaseFacts

if TYPE_CHECKING:
    from ..maps.map_release import MapRelease
    from ..synthesis.synthetic_release import SyntheticRelease
    from ..verification.release_file import Content


@dataclass(frozen=True)
class ReportContent:
    """The content of a report: the verified guarantee and the release. All of it is public.

    Attributes:
        stated: The guarantee file.
        mechanism: The mechanism, rebuilt from the guarantee file.
        name: The name of the release file.
        variants: The released variants.
        counts: Their counts in the file.
        estimate: The estimates from noisy counts; None if the release has only the counts of an event log.
        abstractions: The rules by which traces were generalised.
        rules: The name of the rule of each variant.
        reason: Why these parameters were chosen.
        account: The account of the data set.
        stated_cases: The number of cases stated by the owner; never a counted number.
        policy: The policy under which the release was made.
        signed_off_by: Who has signed off the release.
        synthetic: A synthetic log with its measurements; None where the release is none, or the file has only its traces.
        process_map: A process map with its measurements; None where the release is none, or the file has no measurements.
        looked_at: What the owner looked at of the original log before the parameters were chosen, in words.
    """

    stated: dict[str, Any]
    mechanism: Mechanism
    name: str
    variants: tuple[Trace, ...]
    counts: tuple[int, ...]
    estimate: Estimate | None
    abstractions: tuple[Abstraction, ...] = (FULL,)
    rules: tuple[str, ...] = ()
    reason: str = ""
    account: Account | None = None
    stated_cases: int | None = None
    synthetic: SyntheticRelease | None = None
    policy: Policy | None = None
    signed_off_by: str = ""
    process_map: MapRelease | None = None
    looked_at: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        explain.check_stated_cases(self.stated_cases)

    @property
    def values(self) -> tuple[float, ...]:
        """The values by which variants are ranked: the estimates, or the counts in the file without estimates."""
        return self.estimate.counts if self.estimate is not None else tuple(map(float, self.counts))

    @property
    def weak_protection(self) -> tuple[str, ...]:
        """The reasons why these parameters protect only weakly, if any."""
        return explain.weak_protection(self.mechanism.epsilon, self.mechanism.delta, self.stated_cases)

    @property
    def facts(self) -> ReleaseFacts:
        """What the decision summary is about."""
        cases, made = sum(self.counts), self.process_map
        return ReleaseFacts(
            self.mechanism, len(self.variants), cases, self.estimate, self.synthetic, made, self.weak_protection
        )

    @property
    def is_abstracted(self) -> bool:
        """Whether a rule may have generalised traces; on a ladder even if every released trace is full."""
        return self.mechanism.generalises or self.abstractions != (FULL,)


def read_content(guarantee: Path, release: Path) -> ReportContent:
    """Return the content of a report from the two files, after verifying both."""
    from ..verification.release_file import read_release

    verified = verify(guarantee, release)
    stated = load(guarantee)
    rules = stated_abstractions(stated, guarantee)
    if verified.mechanism.kind == "process map":
        made = _process_map(release)
        return ReportContent(stated, verified.mechanism, release.name, (), (), None, rules, process_map=made)
    content = read_release(release)
    if not set(content.rules) <= set(map(str, rules)):
        raise VerificationError(f"{release}: a trace has a rule that {guarantee} does not contain")
    mechanism = verified.mechanism
    return ReportContent(
        stated, mechanism, release.name, content.variants, content.counts, _estimate(mechanism, content, stated, release), rules,
        content.rules, synthetic=_synthetic(mechanism, release),
    )  # fmt: skip


def _process_map(release: Path) -> MapRelease | None:
    """The map with its measurements, which only a `.json` file has."""
    from ..verification.map_file import read_map

    return read_map(release) if suffix_of(release, RELEASE_SUFFIXES) else None


def _synthetic(mechanism: Mechanism, release: Path) -> SyntheticRelease | None:
    """The synthetic log with its measurements, which only a `.json` file has."""
    if mechanism.kind != "synthetic log" or not suffix_of(release, RELEASE_SUFFIXES):
        return None
    from ..verification.synthetic_file import read_synthetic

    return read_synthetic(release)


def _estimate(mechanism: Mechanism, content: Content, stated: dict[str, Any], path: Path) -> Estimate | None:
    """Return the estimates of the true counts; on a ladder only if the file has the rungs and the number of cases."""
    frequencies = check_frequencies(stated["release"]["frequencies"])
    if mechanism.generalises and content.noisy is not None:
        stairs = zip(content.abstractions, mechanism.abstractions, strict=False)
        ends = [rule.steps[len(rule.steps) - len(rung.steps) :] for rule, rung in stairs]
        if len(content.abstractions) != len(mechanism.abstractions) or ends != [
            rung.steps for rung in mechanism.abstractions
        ]:
            raise VerificationError(f"{path}: its rungs do not match its guarantee")
    complete = content.release(mechanism, frequencies)
    if complete is not None:
        return complete.estimate
    by_count = frequencies == "noisy" and not mechanism.generalises
    return mechanism.estimate(content.counts) if by_count else None
