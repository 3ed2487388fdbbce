"""Checking a release that was received, in a separate process. Nothing is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import LogError
from ..explain import weak_protection
from ..outputs.guarantee_file import FORMAT
from ..trusted.numbers import as_text
from .failures import known_as
from .jobs import JobWatch, Limits

LIMITS = Limits(memory=2 << 30, seconds=120)


@dataclass(frozen=True)
class Checked:
    """What a guarantee says and what was compared; all of it is public."""

    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    has_release: bool


def check_files(folder: Path, names: tuple[tuple[str, str], ...], watch: JobWatch) -> Checked:
    """Verify a guarantee, with its release if there are two files."""
    from ..verification.verify import verify

    watch("building and verifying the noise", 0.0)
    stored = [folder / name for name, _ in names]
    guarantees = [path for path in stored if _is_guarantee(path)]
    if len(guarantees) != 1:
        raise LogError("drop one guarantee file (….guarantee.json), alone or together with its release")
    release = next((path for path in stored if path != guarantees[0]), None)
    with known_as({str(folder / name): known for name, known in names}):
        verified = verify(guarantees[0], release)
    guarantee = verified.mechanism.guarantee()
    facts = (
        ("standing", str(guarantee.standing)),
        ("what is released", verified.mechanism.kind),
        ("ε, δ", f"{as_text(guarantee.epsilon)}, {as_text(guarantee.delta)}"),
        ("guarantee for", guarantee.holds_for),
        ("mechanism", guarantee.mechanism),
    )
    weak = weak_protection(guarantee.epsilon, guarantee.delta, None, guarantee.unit.noun)
    return Checked(facts, (*verified.notes, *weak), release is not None)


def _is_guarantee(path: Path) -> bool:
    try:
        content = json.loads(path.read_text(encoding="utf-8")) if path.suffix == ".json" else None
    except (ValueError, RecursionError, OSError):
        return path.name.endswith(".guarantee.json")
    return isinstance(content, dict) and content.get("format") == FORMAT
