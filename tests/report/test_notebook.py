"""A release of every kind in a notebook: what it shows, that names are escaped, and that nothing else is in it."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

import travas
from travas import explain
from travas.mechanisms.mechanism import with_random_bytes
from travas.trusted.samplers import Seeded

LOG: dict[tuple[str, ...], int] = {("register", "visit", "release"): 2000, ("register", "release"): 500}
HOSTILE = "<script>alert(1)</script>\x07&"


def release_of(kind: str, log: dict[tuple[str, ...], int] = LOG, **options: Any) -> Any:
    make = {"variants": travas.anonymize, "synthetic log": travas.synthesize, "process map": travas.process_map}[kind]
    return make(log, **{"epsilon": 1, "delta": "1e-6"} | options)  # type: ignore[operator]


KINDS = ("variants", "synthetic log", "process map")


def page_of(release: travas.Release) -> ElementTree.Element:
    return ElementTree.fromstring(release._repr_html_())


def words_of(release: travas.Release) -> str:
    return " ".join(text for text in page_of(release).itertext() if text.strip())


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_escaped(kind: str) -> None:
    page = release_of(kind, {(HOSTILE, "b"): 3000})._repr_html_()
    assert "<script" not in page and "alert(1)" in page
    assert not re.search(r"[\x00-\x08]|\bon\w+=|https?://(?!www\.w3\.org/2000/svg)", page)


def test_a_synthetic_log_that_rests_on_noise_says_so() -> None:
    mechanism = travas.Synthesis(1, "1e-6", alphabet=[f"a{number}" for number in range(9)])
    rare = {tuple(f"a{(7 * case + step) % 9}" for step in range(1 + case % 6)): 1 for case in range(30)}
    weak = with_random_bytes(mechanism, Seeded(15)).release(travas.Log.from_mapping(rare))
    (why,) = explain.of_noise(weak)
    assert weak.variants and "generated from is noise" in why and why in words_of(weak)
