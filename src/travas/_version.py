"""The version of the installed package; it comes from the tag and the commit that the package was built from."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("travas")
except PackageNotFoundError:  # run from a folder, not installed
    __version__ = "0+unknown"
