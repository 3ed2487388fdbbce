"""The version of the package, from the tag and the commit that it was built from."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("travas")
except PackageNotFoundError:  # run from a folder, not installed
    __version__ = "0+unknown"
