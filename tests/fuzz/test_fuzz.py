"""A short run of the fuzzers, always on the same files; `make fuzz SECONDS=…` has new ones every time."""

import csv
from pathlib import Path

import pytest
from mutations import TARGETS, files_of, fuzz

from travas import TravasError
from travas.sources.files import location_of, without_secrets

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


FOUND: dict[str, bytes] = {
    "group": b"register," + b"x" * 140_000 + b"\n",
    "grid": b"epsilon = " + b"7" * 5000 + b"\n",
    "project": b"log = " + b"[" * 3000,
    "policy": b"name = " + b"7" * 5000 + b"\n",
}
"""What fuzzing has found: each of these was an error that no user could understand."""


@pytest.mark.parametrize("target", FOUND)
def test_what_fuzzing_has_found_is_refused(target: str, tmp_path: Path) -> None:
    path = tmp_path / files_of(target)[0].name
    path.write_bytes(FOUND[target])
    limit = csv.field_size_limit(131_072)  # the default, which another package may have raised
    try:
        with pytest.raises(TravasError):
            TARGETS[target](path)
    finally:
        csv.field_size_limit(limit)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:://user:s3cr3t-pass@host/db",
        "postgresql://us/er:s3cr3t-pass@host/db",
        "postgresql://u:my s3cr3t-pass@h/d",
    ],
)
def test_passwords_of_mistyped_urls_are_not_shown(url: str) -> None:
    assert "s3cr3t" not in without_secrets(f"{url}: no such file")
    assert "s3cr3t" not in str(location_of(url)) or url.startswith("postgresql::")
