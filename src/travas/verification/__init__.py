"""Verification without the log: of a guarantee file, and of a release against it."""
