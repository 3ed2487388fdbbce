"""The addresses of the screens: one for each screen, and one for each step of each draft."""

from __future__ import annotations

import re
from dataclasses import dataclass

RAIL = (
    ("Home", "/"),
    ("New release", "/new"),
    ("Releases", "/releases"),
    ("Budgets", "/budgets"),
    ("Check a file", "/check"),
)
"""The links of the left rail: name and path."""

ROUTES = ("/", "/new", "/new/{draft}/{step}", "/releases", "/releases/{release}", "/activity", "/budgets", "/check")
"""All paths that have a screen."""

_PATH = re.compile(r"/(?P<screen>[a-z]*)(/(?P<item>[\w-]{1,40})(/(?P<step>[a-z]{1,20}))?)?", re.ASCII)
_DEPTHS = {"home": (0,), "new": (0, 2), "releases": (0, 1), "activity": (0,), "budgets": (0,), "check": (0,)}
"""How many parts follow the name of a screen in its address."""


@dataclass(frozen=True)
class Location:
    """Where a tab is: a screen; for a draft or a release, which one; for a draft, which step."""

    screen: str
    item: str = ""
    step: str = ""

    @classmethod
    def parse(cls, path: str) -> Location | None:
        """Return the location of a path; None if there is no such screen."""
        match = _PATH.fullmatch(path)
        if match is None:
            return None
        made = cls(match["screen"] or "home", match["item"] or "", match["step"] or "")
        depth = bool(made.item) + bool(made.step)
        return made if made.path == path and depth in _DEPTHS.get(made.screen, ()) else None

    @property
    def path(self) -> str:
        """The path in the address of the tab."""
        screen = "" if self.screen == "home" else self.screen
        return "/" + "/".join(part for part in (screen, self.item, self.step) if part)

    @property
    def rail(self) -> str:
        """The path of the link in the rail that leads here."""
        return "/" if self.screen == "home" else "/releases" if self.screen == "activity" else f"/{self.screen}"
