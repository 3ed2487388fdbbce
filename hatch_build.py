"""The metadata of the package that depend on where the project is hosted (docs/site/index_readme.py), and its pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.insert(0, str(Path(__file__).parent / "docs" / "site"))
from index_readme import index_readme, index_urls


class HostedMetadata(MetadataHookInterface):
    """Sets README and project links from `repository` in pyproject.toml."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository = self.config["repository"]
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_readme(text, repository)}
        metadata["urls"] = index_urls(repository)


class Pages(BuildHookInterface[Any]):
    """Puts the pages of docs/ as they are into a wheel that is built without the site, as by `pip install .` in a clone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        docs = Path(self.root, "docs")
        if version != "editable" and not Path(self.root, "src/travas/site/index.html").is_file():
            for page in docs.rglob("*.md"):
                build_data["force_include"][str(page)] = f"travas/docs/{page.relative_to(docs).as_posix()}"
