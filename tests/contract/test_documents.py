"""Documents and code agree: what pages name exists, messages refer to pages, and the reference is complete."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import typer
from page_blocks import ROOT, pages

import travas
from reference_pages import TOPICS, names_of, reference_pages
from travas.cli import main as cli
from travas.mechanisms import MECHANISMS
from travas.settings.table import SETTINGS

PATH = re.compile(r"\b(?:src/travas|tests|docs|benchmarks|experiments)/[\w/.-]+\.(?:py|md|toml)\b")


def test_files_that_documents_name_exist() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    named = {(page, name) for page in documents for name in PATH.findall(page.read_text()) if "NAME" not in name}
    assert [(page.name, name) for page, name in sorted(named) if not (ROOT / name).is_file()] == []


def test_functions_of_the_trusted_folder_that_proofs_cite_exist() -> None:
    files = "|".join(path.stem for path in (ROOT / "src/travas/trusted").glob("[a-z]*.py"))
    cited = re.findall(rf"`((?:{files})\.(?!py\b)[\w.]+)`", "".join((ROOT / page).read_text() for page in pages()))
    assert len(cited) > 20
    for name in cited:
        module, *path = name.split(".")
        found: Any = import_module(f"travas.trusted.{module}")
        for part in path:
            found = getattr(found, part)


def test_links_between_documents_lead_to_files_of_the_repository() -> None:
    links = {
        (ROOT / page, link)
        for page in [*pages(), "CHANGELOG.md"]
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text())
    }
    targets = {(page, link): (page.parent / link).resolve() for page, link in links}
    assert [link for link, target in sorted(targets.items()) if not target.exists()] == []


# --------------------------------------------------------------------------------------- what a user of the wheel sees


def test_messages_refer_to_pages_that_a_user_of_the_wheel_can_open() -> None:
    known = {page.removeprefix("docs/").removesuffix(".md") for page in pages() if page.startswith("docs/")}
    known |= {page.removesuffix(".md") for page in reference_pages()}
    texts = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    found = set(re.findall(r"travas docs ([a-z][\w/-]*)", texts))
    assert {page for page in found - known if not page.startswith("mechanisms/")} == set()  # a name is filled in
    assert {f"mechanisms/{name}" for name in MECHANISMS} <= known


# ----------------------------------------------------------------------------------------------------- the reference


def test_every_public_name_is_documented_on_one_page() -> None:
    listed = [name for topic in TOPICS for name in names_of(topic)]
    assert sorted(listed) == [name for name in travas.__all__ if name != "__version__"]
    text = reference_pages()
    for topic in TOPICS:
        for name in names_of(topic):
            assert len(re.findall(rf"^::: [\w.]+\.{name}$", text[f"reference/python-{topic}.md"], re.MULTILINE)) == 1
            assert (getattr(travas, name).__doc__ or "").strip(), name


def test_every_command_and_option_is_documented() -> None:
    page = reference_pages()["reference/command-line.md"]
    prose = "\n".join((ROOT / name).read_text() for name in pages())
    for name, command in _commands("travas", typer.main.get_command(cli.app)):
        assert name in prose, f"{name} is in no page but the reference"
        section = page.partition(f"\n## {name} {{")[2].partition("\n## ")[0]
        assert command.help and command.help.split("\n")[0].split(". ")[0] in section
        for parameter in command.params:
            shown = parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar
            assert shown == "--help" or (shown in section and parameter.help), f"{name} {shown}"


def _commands(prefix: str, group: Any) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(f"{prefix} {name}", command)
        else:
            yield f"{prefix} {name}", command


def test_every_setting_and_exit_code_is_documented() -> None:
    text = reference_pages()
    for each in SETTINGS:
        assert f"| `{each.name}`" in text["reference/settings.md"]
    for code in cli.CODES:
        assert f"| {code} | " in text["reference/exit-codes.md"]
