"""Public rules that generalise a trace before it is counted."""

from .abstraction import FULL, Abstraction, Files, Grouped, parse_ladder

__all__ = ["FULL", "Abstraction", "Files", "Grouped", "parse_ladder"]
