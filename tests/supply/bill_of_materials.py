"""What travas is made of: a software bill of materials (CycloneDX 1.5) with the licences.

    python tests/supply/bill_of_materials.py FOLDER    writes FOLDER/travas.cdx.json

Everything comes from the metadata of the installed packages, so it describes the environment that it runs in.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = "travas"
EXTRAS = ("pandas", "metrics", "models", "plot", "web", "compression", "sql", "spark")
KNOWN = (  # texts in the metadata, and the licence that they mean
    (r"cvxopt", "GPL-3.0-or-later"),
    (r"apache.*2|apache software license", "Apache-2.0"),
    (r"agpl", "AGPL-3.0-or-later"),
    (r"lgpl", "LGPL-3.0-only"),
    (r"mozilla|mpl", "MPL-2.0"),
    (r"3-clause|bsd license|redistribution and use", "BSD-3-Clause"),
    (r"2-clause", "BSD-2-Clause"),
    (r"python software foundation|psf", "PSF-2.0"),
    (r"isc", "ISC"),
    (r"gnu general public|gpl", "GPL-3.0-or-later"),
    (r"mit license|permission is hereby granted|mit", "MIT"),
)
COPYLEFT = re.compile(r"\bA?GPL")


def key(name: str) -> str:
    """The normalised name of a package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements_of(package: Distribution, extras: Iterable[str]) -> list[Requirement]:
    """The requirements that apply on this machine."""
    environments = [{"extra": extra} for extra in ("", *extras)]
    found = [Requirement(text) for text in package.requires or ()]
    return [need for need in found if need.marker is None or any(need.marker.evaluate(env) for env in environments)]


def components(extras: Iterable[str]) -> dict[str, Distribution]:
    """All packages that travas with these extras needs here, by normalised name, without travas itself."""
    found: dict[str, Distribution] = {}
    waiting = [(ROOT, tuple(extras))]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (key(name), wanted) in seen:
            continue
        seen.add((key(name), wanted))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        found[key(name)] = package
        waiting += [(need.name, tuple(sorted(need.extras))) for need in requirements_of(package, wanted)]
    found.pop(ROOT, None)
    return found


def licence_of(package: Distribution) -> str:
    """The licence as an SPDX expression, as far as the metadata tell; `unknown` if they do not."""
    about: Any = package.metadata
    if expression := about.get("License-Expression"):
        return str(expression)
    classifiers = [text for text in about.get_all("Classifier") or () if text.startswith("License ::")]
    for text in (*classifiers, str(about.get("License") or "")):
        for pattern, licence in KNOWN:
            if re.search(pattern, text, re.IGNORECASE):
                return licence
    return "unknown"


def bill(extras: Iterable[str] = EXTRAS) -> dict[str, Any]:
    """The bill of materials in the format CycloneDX 1.5: the same for the same environment."""
    packages = components(extras)

    def reference(name: str, package: Distribution) -> str:
        return f"pkg:pypi/{name}@{package.version}"

    own = distribution(ROOT)
    listed = [
        {
            "type": "library",
            "bom-ref": reference(name, package),
            "name": name,
            "version": package.version,
            "purl": reference(name, package),
            "licenses": [{"expression": licence_of(package)}],
        }
        for name, package in sorted(packages.items())
    ]
    edges = [
        {
            "ref": reference(name, package),
            "dependsOn": sorted(
                reference(key(need.name), packages[key(need.name)])
                for need in requirements_of(package, extras if name == ROOT else ())
                if key(need.name) in packages
            ),
        }
        for name, package in sorted({**packages, ROOT: own}.items())
    ]
    about = {"type": "application", "bom-ref": reference(ROOT, own), "name": ROOT, "version": own.version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": about | {"licenses": [{"expression": licence_of(own)}]}},
        "components": listed,
        "dependencies": edges,
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "travas.cdx.json").write_text(json.dumps(bill(), indent=2) + "\n", encoding="utf-8")
