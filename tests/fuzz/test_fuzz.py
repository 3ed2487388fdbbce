"""A short run of the fuzzers, always on the same files; `make fuzz SECONDS=…` has new ones every time."""

from __future__ import annotations

from pathlib import Path

import pytest
from differential import differences
from mutations import TARGETS, files_of, fuzz

SHORT = 60


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_is_read(target: str) -> None:
    """An unchanged file of the corpus must be accepted: otherwise only the first check of a parser is fuzzed."""
    for path in files_of(target):
        assert path.stat().st_size < 40_000
        TARGETS[target](path)


@pytest.mark.parametrize("target", TARGETS)
def test_mutated_files_are_read_or_refused(target: str, tmp_path: Path) -> None:
    found = fuzz(target, tmp_path, seed=0, most=SHORT)
    assert found.total() == SHORT


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_many_mutated_files_are_read_or_refused(target: str, tmp_path: Path) -> None:
    fuzz(target, tmp_path, seed=1, most=20_000, seconds=60)


def test_random_logs_are_read_as_other_libraries_read_them(tmp_path: Path) -> None:
    assert differences(tmp_path, seed=0, most=6) == []


@pytest.mark.slow
def test_many_random_logs_are_read_as_other_libraries_read_them(tmp_path: Path) -> None:
    assert differences(tmp_path, seed=1, most=300) == []
