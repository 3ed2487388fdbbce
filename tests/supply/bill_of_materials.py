"""What travas is made of: a software bill of materials, the licences, and known vulnerabilities where a registry says so.

    python tests/supply/bill_of_materials.py FOLDER               writes travas.cdx.json (CycloneDX 1.5) and the licences
    python tests/supply/bill_of_materials.py FOLDER --ask-pypi    also asks PyPI about each component; needs the network

The licences are the table of docs/supply-chain.md.
Everything comes from the metadata of the installed packages, so it describes the environment that it runs in.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

PAGE = Path(__file__).resolve().parents[2] / "docs" / "supply-chain.md"
HEAD = "| package | licence | needed by |"
ROOT = "travas"
REGISTRY = "https://pypi.org"
EXTRAS = ("pandas", "metrics", "models", "accounting", "plot", "web", "excel", "compression", "sql", "spark")
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
    (r"matplotlib", "PSF-2.0"),
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


def licences() -> str:
    """A table of all packages with their licences, and by which extra they are needed."""
    core = components(())
    by_extra = {extra: components((extra,)) for extra in EXTRAS}
    rows = []
    for name, package in sorted(components(EXTRAS).items()):
        needed = "always" if name in core else ", ".join(extra for extra in EXTRAS if name in by_extra[extra])
        rows.append(f"| {name} | {licence_of(package)} | {needed} |")
    return "\n".join([HEAD, "|---|---|---|", *rows, ""])


def vulnerabilities(package: str, version: str, registry: str = REGISTRY) -> list[str] | None:
    """Identifiers of known vulnerabilities of a version; None if the registry does not answer."""
    try:
        with urllib.request.urlopen(f"{registry}/pypi/{package}/{version}/json", timeout=10) as answer:
            return [found["id"] for found in json.load(answer)["vulnerabilities"]]
    except (OSError, ValueError, KeyError, urllib.error.URLError):
        return None


def ask(parts: Iterable[Mapping[str, Any]], registry: str = REGISTRY) -> int:
    """Print the known vulnerabilities; exit code 1 if there is one, 2 if the registry did not answer for every part."""
    answers = {part["name"]: vulnerabilities(part["name"], part["version"], registry) for part in parts}
    unanswered = [name for name, answer in answers.items() if answer is None]
    known = {name: found for name, found in answers.items() if found}
    asked = len(answers) - len(unanswered)
    print(f"known vulnerabilities of the {asked} packages that {registry} answered for: {known or 'none'}")
    if unanswered:
        print(f"no answer for {len(unanswered)} packages: {', '.join(unanswered)}")
    return 1 if known else 2 if unanswered else 0


def main() -> int:
    """Write the files, and ask PyPI if wanted."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made = bill()
    (folder / "travas.cdx.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(HEAD)] + licences(), encoding="utf-8")
    print(f"{folder}: {len(made['components'])} components")
    return ask(made["components"]) if "--ask-pypi" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
