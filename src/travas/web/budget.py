"""What was spent on a log, before and after a release: of this session, until the ledger takes this place.

`spent_on` and `charge` are the seam: with a ledger they read it and write to it, and refuse what is over budget.
"""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

from nicegui import ui

from ..dossier import Spent
from ..privacy import as_text, exact_delta, exact_epsilon
from .parts import note, table
from .sessions import Session


def spent_on(session: Session) -> tuple[Spent, ...]:
    """What was spent on the session's log so far."""
    return tuple(session.spent)


def charge(session: Session) -> None:
    """Write down the recipe's ε and δ: called before the noise is drawn, for a cancelled run may have drawn it."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    recipe = session.recipe
    session.spent.append(Spent.of(when, f"a release by {recipe.mechanism}", recipe.epsilon, recipe.delta))


def refund(session: Session) -> None:
    """Take the last charge back: only where it is certain that no noise was drawn."""
    session.spent.pop()


def show_budget(session: Session) -> None:
    """Before, this release, after."""
    before = spent_on(session)
    epsilon, delta = exact_epsilon(session.recipe.epsilon), exact_delta(session.recipe.delta)
    sums = sum((row.epsilon for row in before), Fraction(0)), sum((row.delta for row in before), Fraction(0))
    ui.html("<h3>Budget</h3>", sanitize=False)
    table(
        ["", "ε", "δ"],
        [
            [f"spent before, in this session ({len(before)} releases)", as_text(sums[0]), as_text(sums[1])],
            ["this release", as_text(epsilon), as_text(delta)],
            ["after", as_text(sums[0] + epsilon), as_text(sums[1] + delta)],
        ],
    )
    note(
        "Releases about the same people add up. Only those of this session are known here; others must be added by hand."
    )
