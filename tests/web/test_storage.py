"""The directory of a running web app."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from travas.web import storage
from travas.web.storage import Storage


def test_a_directory_that_another_server_removes_at_once_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked, removed = storage.try_lock, 0

    def lock(folder: Path) -> object:
        """The other server removes the first directory before it is locked, and the second one after it was opened."""
        nonlocal removed
        removed += 1
        if removed == 1:
            shutil.rmtree(folder)
        made = locked(folder)
        if removed == 2:
            shutil.rmtree(folder)
        return made

    monkeypatch.setattr(storage, "try_lock", lock)
    kept = Storage(tmp_path)
    try:
        assert kept.path.is_dir() and removed == 3
        monkeypatch.undo()
        assert storage.try_lock(kept.path) is None
    finally:
        kept.close()
    assert not kept.path.exists()
