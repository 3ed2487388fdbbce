"""The version of the package, from the tag and the commit that it was built from; in a clone, the commit of now.

A clone is installed once, in editable form, and its installed version states the commit of that moment. What is released
later must state the commit that ran. It is read from the files of git: importing travas starts no process.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def current_version(module: Path, installed: str) -> str:
    """Return the version of the code that runs.

    Args:
        module: A module of the package.
        installed: The installed version.

    Returns:
        The installed version; in a clone with another commit, that commit instead of the one of the installation.
    """
    sources = module.parents[1]
    commit = _commit(sources.parent / ".git") if sources.name == "src" else ""
    public, _, local = installed.partition("+")
    return installed if not commit or local[:10] == f"g{commit}" else f"{public}+g{commit}"


def _commit(git: Path) -> str:
    """Return the first nine digits of the commit that is checked out; empty if it cannot be read."""
    try:
        if 'name = "travas"\n' not in (git.parent / "pyproject.toml").read_text():  # the clone of another project
            return ""
        if git.is_file():  # a linked work tree
            git = git.parent / git.read_text().removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head[:9]
        shared = git / (git / "commondir").read_text().strip() if (git / "commondir").is_file() else git
        branch = head.removeprefix("ref: ")
        if (shared / branch).is_file():
            return (shared / branch).read_text()[:9]
        packed = (shared / "packed-refs").read_text().splitlines()
        return next((line[:9] for line in packed if line.endswith(f" {branch}")), "")
    except (OSError, ValueError):  # no clone, or one that is being changed
        return ""


try:
    _INSTALLED = version("travas")
except PackageNotFoundError:  # run from a folder, not installed
    _INSTALLED = "0+unknown"

__version__ = current_version(Path(__file__), _INSTALLED)
