"""Every extra is tried alone by `make test-extras`; here, that none is forgotten, nor in the bill of materials."""

from __future__ import annotations

import tomllib
from pathlib import Path

from bill_of_materials import EXTRAS
from extras import SMOKES

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_extra_is_tried_alone_and_in_the_bill_of_materials() -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(SMOKES) == set(EXTRAS) == set(extras) - {"all"}
    assert set(extras["all"][0].removeprefix("travas[").removesuffix("]").split(",")) == set(SMOKES)
