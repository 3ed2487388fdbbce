"""The options of the charge: on which data set, in which ledger, under which policy, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..budget.account import Approval
from ..budget.ledger import Ledger
from ..budget.policy import Policy
from .options import LedgerFile, PolicyFile, SignedOffBy, ledger_of, with_options

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "dataset": (
        Annotated[
            str | None,
            typer.Option(
                help="Name of the data set in the ledger. Default: the account of this file. "
                "Required if the log is not a file.",
                metavar="NAME",
            ),
        ],
        None,
    ),
    "ledger": (LedgerFile, None),
    "policy": (PolicyFile, None),
    "reason": (
        Annotated[str, typer.Option(help="Why the release is made with these parameters; recorded.", metavar="TEXT")],
        "",
    ),
    "signed_off_by": (SignedOffBy, ""),
}


@dataclass(frozen=True)
class Charge:
    """What the options say about the charge of a release. Nothing is opened before it is asked for."""

    dataset: str | None
    ledger_file: Path | None
    policy_file: Path | None
    approval: Approval

    def ledger(self) -> Ledger:
        """Open the ledger, which is created if it does not exist."""
        return ledger_of(self.ledger_file)

    def policy(self) -> Policy | None:
        """Read the policy that is stated, if any. The pipeline adds its rules to those of the policy that it finds."""
        return None if self.policy_file is None else Policy.load(self.policy_file)

    def stated(self) -> dict[str, object]:
        """The values of the options by their names; None where one is not set."""
        return {
            "--dataset": self.dataset,
            "--ledger": self.ledger_file,
            "--policy": self.policy_file,
            "--reason": self.approval.reason or None,
            "--signed-off-by": self.approval.signed_off_by or None,
        }


def with_charge(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the `charge` parameter of a command with the options of the charge."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        dataset, ledger, policy, reason, signed_off_by = (values.pop(name) for name in _OPTIONS)
        return {"charge": Charge(dataset, ledger, policy, Approval(reason, signed_off_by))}

    return with_options(command, "charge", _OPTIONS, collect)
