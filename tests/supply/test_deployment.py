"""Workflows run what a developer runs, with pinned actions; the container has no permissions that it does not need."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from index_readme import index_urls

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_there_are_workflows_for_test_docs_and_publishing() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "publish", "test"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_commands_are_targets_of_the_makefile(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    actions, commands = re.findall(r"uses: (.+)", text), re.findall(r"run: (.+)", text)
    assert actions and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[0-9.]+", action) for action in actions)
    for command in commands:
        command = command.partition(" #")[0]
        assert (
            command == "sudo tests/install" or command == 'make "$TARGET"' or command.removeprefix("make ") in TARGETS
        )
    for listed in re.findall(r"target: \[(.+)\]", text):
        assert set(listed.split(", ")) <= TARGETS


def test_only_publishing_jobs_get_an_identity_and_no_secret_is_used() -> None:
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        assert "permissions:\n  contents: read\n" in text and "secrets." not in text
        assert text.count("id-token: write") == (0 if path.stem == "test" else 1)


def instructions(name: str) -> list[str]:
    """The words behind an instruction of the Dockerfile, in order."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(rf"^{name} (.+)", text, re.MULTILINE)


def test_the_container_runs_without_privileges_and_is_checked() -> None:
    assert instructions("USER") == ["10001:10001"]
    assert "http://127.0.0.1:8080/health" in instructions("HEALTHCHECK")[0]
    assert json.loads(instructions("ENTRYPOINT")[0]) == ["travas"]
    assert json.loads(instructions("CMD")[0])[:1] == ["serve"]
    compose = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    for line in ("read_only: true", "cap_drop: [ALL]", "no-new-privileges:true", "127.0.0.1:8080:8080"):
        assert line in compose


def test_the_container_has_every_extra_that_its_page_promises() -> None:
    (extras,) = re.findall(r"\[([a-z,]+)\]\"", " ".join(instructions("RUN")))
    assert set(extras.split(",")) == set(PROJECT["optional-dependencies"]) - {"all", "models", "spark"}


def test_project_addresses_are_made_from_the_repository() -> None:
    """hatch_build.py sets them; docs/site/index_readme.py says what they are."""
    assert {"readme", "urls"} <= set(PROJECT["dynamic"])
    assert set(index_urls("https://github.com/o/t")) == {"Homepage", "Source", "Issues", "Changelog"}
    hook = (ROOT / "hatch_build.py").read_text(encoding="utf-8")
    assert "index_readme(text, repository)" in hook and "index_urls(repository)" in hook
