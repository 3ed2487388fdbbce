"""Mechanisms with a proof, one file for each topic of a proof, by name or description, and the extension point for others."""

from .registry import MECHANISMS, find_mechanism, from_description, mechanism

__all__ = ["MECHANISMS", "find_mechanism", "from_description", "mechanism"]
