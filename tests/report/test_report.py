"""The report: verified first, self-contained, escaped, and made of nothing but public files."""

import base64
import hashlib
import re
from fractions import Fraction
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import travas as package
from conftest import Run
from travas import anonymize, write_report
from travas.budget.account import Approval
from travas.budget.policy import PolicyRule
from travas.errors import VerificationError
from travas.mechanisms import MECHANISMS, mechanism, registry
from travas.mechanisms import mechanism as by_name
from travas.pipeline import Request, run
from travas.report.content import read_content
from travas.report.decision import decision_on
from travas.trusted.samplers import Seeded

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&amp;\x07"
LOG: dict[Any, int] = {("register", "visit", HOSTILE): 400, ("register", "release"): 90, ("visit",): 1}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def made(
    tmp_path: Path, suffix: str = ".json", frequencies: Any = "estimated", name: str = "optimal", **options: Any
) -> tuple[Path, Path]:
    path = tmp_path / f"release{suffix}"
    anonymize(LOG, mechanism(name, 1, "1e-6", **options), frequencies=frequencies).write(path)
    return Path(f"{path}.guarantee.json"), path


def test_an_empty_release_says_how_many_cases_a_variant_needs() -> None:
    [warning] = decision_on(anonymize({("a",): 1}, epsilon=1, delta="1e-6")).warnings
    assert "At this ε and δ a variant needs 14 cases to be released with a probability above 50 %." in warning


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_with_a_guarantee_has_a_report(name: str, tmp_path: Path) -> None:
    tree: dict[str, Any] = {"max_length": 4, "prune": 20, "alphabet": ["register", "visit"]}
    files = made(tmp_path, name=name, **(tree if "prune" in registry.options_of(MECHANISMS[name]) else {}))
    html = write_report(*files, tmp_path / "report.html", reason="Because <b>I</b> said so").read_text()
    assert "(1, 1e-6)" in html and f"{name}: " in html
    assert hashlib.sha256(files[1].read_bytes()).hexdigest() in html
    assert "Because &lt;b&gt;I&lt;/b&gt; said so" in html


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet"])
@pytest.mark.parametrize("frequencies", ["estimated", "noisy"])
def test_names_are_text_and_nothing_is_fetched(suffix: str, frequencies: str, tmp_path: Path) -> None:
    html = write_report(
        *made(tmp_path, suffix, frequencies=frequencies, name="travas"), tmp_path / "report.html"
    ).read_text()
    tags = Tags()
    tags.feed(html)
    names = [tag for tag, _ in tags.seen]
    assert "script" not in names and "img" not in names and "link" not in names
    for _, attributes in tags.seen:
        assert not any(key.startswith("on") or key in ("src", "href", "style") for key in attributes)
    assert HOSTILE not in html and "\x07" not in html
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = next(a["content"] for tag, a in tags.seen if a.get("http-equiv") == "Content-Security-Policy")
    assert policy and policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    for picture in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        assert ElementTree.fromstring(picture).get("aria-label")
    assert ("95 % interval" in html) and (" – " in html) == (suffix == ".json" or frequencies == "noisy")


def test_a_report_is_on_a_verified_release_only(tmp_path: Path, travas: Run) -> None:
    guarantee, release = made(tmp_path)
    out = tmp_path / "report.html"
    assert travas("report", guarantee, release, "-o", out).code == 0
    assert travas("report", guarantee, release, "-o", out).code == 2  # it exists
    assert travas("report", guarantee, release, "-o", tmp_path / "report.pdf").code == 2
    release.write_text(release.read_text() + " ")
    ran = travas("report", guarantee, release, "-o", out, "--force")
    assert ran.code == 1 and "SHA-256" in ran.err


def test_no_guarantee_no_report(tmp_path: Path) -> None:
    for place, chosen in enumerate(
        (by_name("utravas-published", 1, "1e-6"), MECHANISMS["optimal"](1, "1e-6", random_bytes=Seeded(1)))
    ):
        path = chosen.release(package.read(LOG)).write(tmp_path / f"{place}.json")
        with pytest.raises(VerificationError, match="not established"):
            write_report(f"{path}.guarantee.json", path, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_the_history_is_that_of_the_ledger(tmp_path: Path, travas: Run, small_csv: Path) -> None:
    travas("budget", "create", "a <b> name", "--epsilon", 2, "--delta", "1e-3")
    out = tmp_path / "out.json"
    for epsilon in ("0.5", "0.75"):
        signed = ("--epsilon", epsilon, "--delta", "1e-6", "--dataset", "a <b> name")
        assert travas("anonymize", small_csv, *signed, "-o", out, "--force").code == 0
    files, html = (f"{out}.guarantee.json", out), tmp_path / "report.html"
    assert travas("report", *files, "-o", html, "--dataset", "a <b> name").code == 0
    text = html.read_text()
    assert "<td>1.25</td>" in text and "a &lt;b&gt; name" in text and "left of ε = 2" in text
    assert text.index("<td>0.5</td>") < text.index("<td>0.75</td>")
    assert travas("budget", "create", "another", "--no-limit").code == 0
    ran = travas("report", *files, "-o", html, "--force", "--dataset", "another")
    assert ran.code == 2 and "this release was not charged to this account" in ran.err
    for words in (("--dataset", "x"), ()):  # a ledger needs a data set
        ran = travas("report", *files, "-o", html, "--force", *words, "--ledger", tmp_path / "gone.db")
        assert ran.code == 2 and not (tmp_path / "gone.db").exists()


def test_the_location_of_a_log_without_a_name_is_not_in_its_files(tmp_path: Path, small_csv: Path) -> None:
    ledger = package.Ledger(tmp_path / "ledger.db")
    log = small_csv.rename(tmp_path / "canary.csv")
    path = anonymize(log, epsilon=1, delta="1e-6", ledger=ledger).write(tmp_path / "r.json")
    (account,) = ledger.accounts()
    assert account.location == str(log.resolve()) and account.dataset is None
    html = write_report(f"{path}.guarantee.json", path, tmp_path / "report.html", account=account).read_text()
    for text in (html, path.read_text(), Path(f"{path}.guarantee.json").read_text()):
        assert "canary" not in text and str(tmp_path) not in text


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet", ".xes.gz"])
@pytest.mark.parametrize("frequencies", ["estimated", "noisy"])
def test_a_ladder_is_read_rung_by_rung(suffix: str, frequencies: Any, tmp_path: Path) -> None:
    counts: dict[Any, int] = {("a", "b", "c"): 400, ("a", "b"): 300, ("a", "<x>", "c"): 200}
    counts |= {("a", "b", "c", f"x{n}"): 1 for n in range(300)}
    rule = mechanism("ladder", 2, "1e-3", rungs="full,prefix:3,prefix:2")
    release = anonymize(counts, rule, frequencies=frequencies)
    path = release.write(tmp_path / f"ladder{suffix}")
    assert len(set(release.variants)) < len(release.variants)  # a trace on two rungs
    found = read_content(Path(f"{path}.guarantee.json"), path)
    told = sorted(zip(found.variants, found.rules, found.counts, strict=True))
    assert told == sorted(zip(release.variants, release.rules, release.counts, strict=True))
    assert found.estimate == (release.estimate if suffix == ".json" else None)
    assert found.abstractions == release.used_abstractions
    page = write_report(f"{path}.guarantee.json", path, tmp_path / "r.html").read_text()
    assert all(f"<td>{escape(str(rule))}</td>" in page for rule in set(found.rules))
    assert "prefix:3: The first n" in page


STRICT = package.Policy(
    "Strict",
    (
        PolicyRule("epsilon_per_release", Fraction("0.1"), "small"),
        PolicyRule("delta_per_release", Fraction("1e-3"), "small"),
        PolicyRule("epsilon_per_year", Fraction(4), "small"),
        PolicyRule("reason", True, "why"),
        PolicyRule("sign_off", True, "who"),
    ),
)


def charged(epsilon: int, ledger: package.Ledger, approval: Approval) -> Any:
    chosen = mechanism("optimal", epsilon, "1e-6")
    return run(Request(LOG, chosen, ledger=ledger, dataset="ward", approval=approval)).release


def test_every_rule_of_the_policy_is_checked_against_the_guarantee_and_the_charge(tmp_path: Path) -> None:
    """A release at ε = 3, made without a policy, was reported as made under one that allows at most 0.1."""
    ledger = package.Ledger(tmp_path / "ledger.db")
    ledger.create_account("ward")
    approval = Approval("For the yearly statistics")
    path = tmp_path / "r.json"
    for epsilon in (2, 3):
        release = charged(epsilon, ledger, approval)
    release.write(path)
    files = f"{path}.guarantee.json", path

    def states(**options: Any) -> dict[str, str]:
        page = write_report(*files, tmp_path / "r.html", policy=STRICT, existing="replace", **options).read_text()
        found = re.findall(r"<td>(?:<strong>)?(kept|broken|not known)\b", page)
        return dict(zip((rule.name for rule in STRICT.rules), found, strict=True))

    unknown = dict.fromkeys(("epsilon_per_year", "reason", "sign_off"), "not known")
    of_the_guarantee = {"epsilon_per_release": "broken", "delta_per_release": "kept"}
    assert states(signed_off_by="somebody") == of_the_guarantee | unknown
    account = ledger.account("ward")
    of_the_charge = {"epsilon_per_year": "broken", "reason": "kept", "sign_off": "broken"}
    assert states(account=account, signed_off_by="somebody") == of_the_guarantee | of_the_charge


def test_a_later_reason_does_not_replace_the_recorded_one(tmp_path: Path) -> None:
    ledger = package.Ledger(tmp_path / "ledger.db")
    ledger.create_account("ward")
    release = charged(1, ledger, Approval("The first reason", "A. Officer"))
    path, account = release.write(tmp_path / "r.json"), ledger.account("ward")
    report = write_report(f"{path}.guarantee.json", path, tmp_path / "r.html", account=account, reason="Another reason")
    recorded = f"recorded with the charge on {account.entries[0].time[:10]}"
    for words in (
        f"The first reason ({recorded}",
        f"by A. Officer ({recorded}",
        "Another reason (stated for this report",
    ):
        assert words in report.read_text()


def test_a_synthetic_log_is_reported_with_the_measurements_beside_it(tmp_path: Path) -> None:
    release = package.synthesize(LOG, epsilon=5, delta="1e-3")
    pages = []
    for suffix in (".json", ".csv"):
        path = release.write(tmp_path / f"log{suffix}")
        found = read_content(Path(f"{path}.guarantee.json"), path)
        pages.append(found.decision.content)
        assert found.synthetic is not None and found.synthetic.origins == release.origins
    assert pages[0] == pages[1]


def test_a_report_claims_no_timestamps_that_the_file_does_not_have(tmp_path: Path) -> None:
    kinds = [read_content(*made(tmp_path, suffix)).timestamp_kind for suffix in (".json", ".csv")]
    assert kinds == ["none", "artificial"]


def test_values_of_attributes_that_were_found_are_to_be_read(tmp_path: Path) -> None:
    rows = [f"{case},visit,2025-01-01,w{case % 2},s{case % 2}" for case in range(50)]
    (tmp_path / "log.csv").write_text("\n".join(["case_id,activity,timestamp,ward,sex", *rows]) + "\n")
    attributes = "ward", package.Attribute("sex", values=["s0", "s1"])
    path = package.synthesize(tmp_path / "log.csv", epsilon=1, delta="1e-6", attributes=attributes).write(
        tmp_path / "s.csv"
    )
    text = write_report(f"{path}.guarantee.json", path, tmp_path / "report.html").read_text()
    assert "the values of ward</strong>" in text
