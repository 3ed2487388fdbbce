"""The content of a report, from public files and the ledger. The layout is in document.py and the template."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import explain
from ..budget.account import NO_APPROVAL, Account, Approval, Entry
from ..budget.policy import Policy, PolicyRule, problem_of
from ..errors import number_of
from ..log.abstraction import FULL, Abstraction
from ..log.traces import Trace
from ..mechanisms.ladder import generalises
from ..mechanisms.mechanism import Mechanism
from ..releases.estimate import Estimate, estimate_of
from ..releases.process_map import MapRelease
from ..releases.release import (
    EVENT_LOGS,
    SEGMENT,
    Release,
    ReleasedLog,
    TimestampKind,
    VariantRelease,
    kind_of,
    timestamp_kind,
)
from ..releases.synthetic_log import SyntheticRelease
from ..sources.release_json import load_release_json
from ..verification.opened import check_digest, load, read_release, release_of
from ..verification.verify import verify
from .decision import Decision

_OF_THE_CHARGE = ("reason", "sign_off", "epsilon_per_year", "delta_per_year")
"""The rules of a policy that only the charge in the ledger can show to be kept."""


@dataclass(frozen=True)
class ReportContent:
    """The content of a report: the verified guarantee, the release, and what the ledger recorded about it.

    Attributes:
        stated: The guarantee file.
        mechanism: The mechanism, rebuilt from the guarantee file.
        name: The name of the release file.
        variants: The released variants.
        counts: Their counts in the file.
        estimate: The estimates from noisy counts; None if the release has only the counts of an event log.
        abstractions: The rules by which traces were generalised.
        rules: The name of the rule of each variant.
        reason: Why these parameters were chosen, as stated for this report.
        account: The account of the data set.
        stated_cases: The number of cases stated by the owner; never a counted number.
        policy: The policy that the release is checked against.
        signed_off_by: Who has signed off the release, as stated for this report.
        release: The release with its measurements, if the file has any.
        decisions: What was decided about handing it out, in words; the last one holds.
        looked_at: What the owner looked at of the original log before the parameters were chosen, in words.
    """

    stated: dict[str, Any]
    mechanism: Mechanism
    name: str
    variants: tuple[Trace, ...] = ()
    counts: tuple[int, ...] = ()
    estimate: Estimate | None = None
    abstractions: tuple[Abstraction, ...] = (FULL,)
    rules: tuple[str, ...] = ()
    reason: str = ""
    account: Account | None = None
    stated_cases: int | None = None
    release: Release | None = None
    policy: Policy | None = None
    signed_off_by: str = ""
    decisions: tuple[str, ...] = ()
    looked_at: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[float, ...]:
        """The values by which variants are ranked: the estimates, or the counts in the file without estimates."""
        return self.estimate.counts if self.estimate is not None else tuple(map(float, self.counts))

    @property
    def timestamp_kind(self) -> TimestampKind:
        """What the timestamps in the file are; a `.json` file has variants without times."""
        kind = timestamp_kind(self.mechanism)
        return "none" if kind == "artificial" and self.stated["release"]["format"] == "json" else kind

    @property
    def segment(self) -> str:
        """Which cases were released, such as `ward = A`; empty for all of them."""
        return str(self.stated["release"].get("notices", {}).get(SEGMENT, ""))

    @property
    def synthetic(self) -> SyntheticRelease | None:
        """The synthetic log with its measurements; None where the release is not one, or the file has only its traces."""
        return self.release if isinstance(self.release, SyntheticRelease) else None

    @property
    def process_map(self) -> MapRelease | None:
        """The process map with its measurements; None where the release is not one, or the file has no measurements."""
        return self.release if isinstance(self.release, MapRelease) else None

    @property
    def is_abstracted(self) -> bool:
        """Whether a rule may have generalised traces; on a ladder even if every released trace is full."""
        return generalises(self.mechanism) or self.abstractions != (FULL,)

    @property
    def person(self) -> str:
        """The noun for whom it protects: a case, the unit's own name for people in the ledger, or a person."""
        if self.mechanism.unit.is_case:
            return "case"
        named = None if self.account is None else self.account.unit
        return explain.PERSON if named is None else named.name

    @property
    def charge(self) -> Entry | None:
        """The charge of this release: the last one of this mechanism, parameters and unit; None without an account."""
        promised = self.mechanism.guarantee()
        wanted = promised.mechanism, promised.epsilon, promised.delta, promised.unit
        for entry in reversed(() if self.account is None else self.account.entries):
            cost = entry.spending
            if (cost.mechanism, cost.epsilon, cost.delta, cost.unit) == wanted:
                return entry
        return None

    @property
    def recorded(self) -> Approval:
        """The reason and the sign-off that the charge recorded."""
        return NO_APPROVAL if self.charge is None else self.charge.approval

    @property
    def reported_rules(self) -> tuple[tuple[PolicyRule, str], ...]:
        """Every rule of the policy, and whether this release keeps it: `kept`, `broken` or `not known`.

        It is checked against the guarantee and against what the ledger recorded.
        """
        if self.policy is None:
            return ()
        charge, before = self.charge, None
        if charge is not None and self.account is not None:
            earlier = tuple(entry for entry in self.account.entries if entry.number < charge.number)
            before = replace(self.account, entries=earlier)
        checked = charge or Entry.of(None, None, self.mechanism)
        unknown = _OF_THE_CHARGE if charge is None else ()
        return tuple(
            (rule, "not known" if rule.name in unknown else "broken" if problem_of(rule, checked, before) else "kept")
            for rule in self.policy.rules
        )

    @property
    def decision(self) -> Decision:
        """What the summary says."""
        return Decision(self.mechanism, self.counts, self.estimate, self.release, self.stated_cases, self.person)

    @property
    def open_points(self) -> tuple[str, ...]:
        """What has to be considered before the release is handed out, in sentences."""
        states = [state for _, state in self.reported_rules]
        broken, unknown = states.count("broken"), states.count("not known")
        points = {
            f"Broken: {number_of(broken, 'rules')} of the policy.": broken,
            f"{number_of(unknown, 'rules')} of the policy cannot be checked without the charge.": unknown,
            "The protection is weak: read the warning.": self.decision.weak,
            "It is of little use: read the warning.": self.decision.little_use,
            "No reason is given for these parameters.": not (self.recorded.reason or self.reason).strip(),
            "Nobody has signed it off.": not (self.recorded.signed_off_by or self.signed_off_by).strip(),
            "Other releases about the same people are not known: no account was given.": self.account is None,
            "Someone must read the names of activities in section 5.": True,
        }
        rejected = [f"It was {one}." for one in self.decisions[-1:] if one.startswith("rejected")]
        return (*rejected, *(sentence for sentence, applies in points.items() if applies))


def read_content(guarantee: Path, release: Path, made: Release | None = None) -> ReportContent:
    """Return the content of a report from the two files, after verifying both. `made` is the release, if it is known."""
    mechanism, stated = verify(guarantee, release).mechanism, load(guarantee)
    complete = check_digest(release, guarantee, stated)
    if made is None and complete is not None:
        made = release_of(load_release_json(complete, "not a release of travas"), complete, stated)
    rules = tuple(map(Abstraction.from_json, stated["release"]["abstractions"]))
    content = ReportContent(stated, mechanism, release.name, abstractions=rules, release=made)
    if isinstance(made, ReleasedLog):
        estimate = made.estimate if isinstance(made, VariantRelease) else None
        return replace(content, variants=made.variants, counts=made.counts, rules=made.rules, estimate=estimate)
    if kind_of(mechanism) not in EVENT_LOGS:
        return content
    log = read_release(release)
    by_count = stated["release"]["frequencies"] == "noisy" and not generalises(mechanism)
    estimate = estimate_of(mechanism, log.counts) if by_count else None
    return replace(content, variants=log.variants, counts=log.counts, rules=log.rules, estimate=estimate)
