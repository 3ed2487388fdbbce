"""Public rules that generalise a trace before it is counted."""

from .trace_abstraction import FULL, Abstraction, Grouped, RuleFiles, parse_ladder

__all__ = ["FULL", "Abstraction", "Grouped", "RuleFiles", "parse_ladder"]
