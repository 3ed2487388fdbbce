"""A draft of the web app without a page, with its archive and its ledger."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import travas
from travas.budget.account import Approval, Entry
from travas.outputs.write import write_hospital_log
from travas.web import tasks
from travas.web.archive import RELEASE, Archive, ArchivedRelease, Signature
from travas.web.browsers import Browser
from travas.web.recipe import Recipe
from travas.web.sessions import Session

ADA = Signature("Ada", "user", "2026-05-01T10:00:00+00:00")


class Draft:
    """A draft on the example log, and the data set `data` that its releases are charged to."""

    def __init__(self, folder: Path) -> None:
        self.archive, self.ledger = Archive(folder / "archive"), travas.Ledger(folder / "ledger.db")
        self.ledger.create_account("data")
        self.log = folder / "log.csv"  # written when it is read
        self.recipe = Recipe(epsilon="2", delta="1e-3")
        owner = Browser("id", folder, self.archive.activity, name="Bob")
        self.session = Session(
            "id", folder, owner, log=self.log, name="log.csv", dataset="data", recipe=self.recipe
        )  # fmt: skip

    def begin(self, sign_offs: tuple[Signature, ...] = ()) -> ArchivedRelease:
        """Make the folder of a release."""
        return self.archive.begin(ADA, "data", "log.csv", self.recipe, "", self.ledger.path, sign_offs)

    def charge(self, asked: ArchivedRelease) -> None:
        """Charge a release without making it."""
        approval = Approval(reference=asked.id)
        self.ledger.charge(Entry.of("data", None, asked.recipe.build(), "case_id", approval=approval))

    def write_log(self) -> None:
        """Write the log."""
        write_hospital_log(self.log)

    def draw(self, asked: ArchivedRelease) -> tasks.Drawn:
        """Charge and make a release."""
        self.write_log()
        output, approval = self.archive.folder(asked.id) / RELEASE, Approval(reference=asked.id)
        return tasks.draw(
            self.log, "log.csv", travas.Reading(), asked.recipe, self.ledger.path, "data", "copy", output,
            lambda *_: None, approval,
        )  # fmt: skip

    def page(self) -> Any:
        """What a step uses of a page; `refused` has its messages."""
        refused: list[str] = []
        return SimpleNamespace(
            session=self.session, services=SimpleNamespace(archive=self.archive), ledger=self.ledger,
            settings=SimpleNamespace(), refuse=refused.append, refused=refused,
        )  # fmt: skip
