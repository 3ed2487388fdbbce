"""Figures from plain values."""
