"""The parts of the page that need no browser."""

from __future__ import annotations

import os
import pickle
import socket
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

import travas
from travas import explain as words
from travas.budget.account import Approval
from travas.errors import OutputError, ParameterError, TravasError
from travas.mechanisms.ladder import Ladder
from travas.mechanisms.mechanism import tables_of
from travas.outputs.write import write_hospital_log
from travas.plots.charts import ticks
from travas.plots.chevrons import chevrons
from travas.settings.project import OFFERED
from travas.web import curve, tasks
from travas.web.activity import ActivityLog
from travas.web.browsers import MAX_DRAFTS, Browsers
from travas.web.failures import in_words
from travas.web.locations import Location
from travas.web.recipe import Recipe
from travas.web.screens.check import _names as received
from travas.web.settings import Settings, listening
from travas.web.storage import Storage
from travas.web.transfers import folder_logs

HOSTILE = '</text><script>alert(1)</script>"&\x07'


def quiet(_: str, __: float) -> None:
    pass


def test_what_epsilon_and_delta_mean() -> None:
    one = Fraction(1)
    assert words.best_guess(one, Fraction(0)) == 0.7311 and words.best_guess(Fraction(20), Fraction(0)) == 1
    assert words.in_percent(0.7311) == "73.11 %" and words.in_percent(1) == "100.00 %"
    assert words.one_in(Fraction(1, 10**6)) == "1 in 1,000,000" and words.one_in(Fraction(3, 10)) == "1 in 3"
    assert "2.72" in words.of_epsilon(one, Fraction(0), "case")


@pytest.mark.parametrize("name", ["optimal", "travas", "utravas"])
@pytest.mark.parametrize(("epsilon", "delta", "least"), [("1", "1e-6", None), ("0.1", "1e-3", 5), ("10", "0.1", None)])
def test_the_fast_curve_is_the_verified_one(name: str, epsilon: str, delta: str, least: int | None) -> None:
    recipe = Recipe(name, epsilon, delta)
    if name == "utravas":
        least = None
    recipe = recipe.with_option("minimum_cases", least) if least else recipe
    chosen = recipe.build()
    points, table, below = curve.points(chosen), tables_of(chosen)[0].table, (least or 1) - 1
    runs = getattr(chosen, "splits", None) or 1
    assert points[0][0] == 1 and points[-1] == (below + table.length, 1.0)
    for cases, share in points:
        assert share == float(1 - (1 - table.keep_probability(cases - below)) ** runs)


def test_the_stops_of_the_sliders_make_sense() -> None:
    for stops in (curve.EPSILONS, curve.DELTAS):
        numbers = [Fraction(stop) for stop in stops]
        assert numbers == sorted(numbers)
    for epsilon in (curve.EPSILONS[0], curve.EPSILONS[-1]):
        for delta in (curve.DELTAS[0], curve.DELTAS[-1]):
            assert curve.points(Recipe("optimal", epsilon, delta).build())
    assert (
        curve.nearest(curve.EPSILONS, "0.99") == curve.EPSILONS.index("1")
        and curve.nearest(curve.EPSILONS, "1e999999999") == 0
    )
    assert curve.view(Recipe(epsilon="0")).why and not curve.view(Recipe()).why
    assert "max_length" in curve.view(Recipe("prefix-tree")).why and "sacofa-published" not in OFFERED["variants"]


@pytest.mark.parametrize(("first", "last"), [(1, 2), (1, 28), (1, 4711), (990, 1017), (1, 1)])
def test_ticks_are_few_and_round(first: int, last: int) -> None:
    found = ticks(first, last)
    assert 1 <= len(found) <= 8 and all(first <= number <= last for number in found)


def test_chevrons_are_xml_and_names_are_text() -> None:
    log = {("a", HOSTILE, "a", "a"): 5, ((HOSTILE,) * 70): 2, ("a",): 1}
    for svg in (chevrons(trace) for trace in log):
        root = ElementTree.fromstring(svg)
        assert root.get("aria-label") and root.get("role") == "img"
        assert not [element for element in root.iter() if element.tag.endswith("script")]
        assert all(not name.startswith("on") and name != "style" for element in root.iter() for name in element.attrib)


@pytest.mark.parametrize("stored", ["../g.guarantee.json", "/etc/passwd", "0123abcd/../x", "0123abcd.json\n", ""])
def test_only_stored_files_are_checked(stored: str) -> None:
    assert received([[True, "0123abcd.guarantee.json", "mine\ud83d"]]) == (("0123abcd.guarantee.json", "mine?"),)
    with pytest.raises(TravasError, match="a file was not stored here"):
        received([[True, stored, "mine"]])


def test_drafts_and_browsers_that_were_left_are_deleted_with_their_files(tmp_path: Path) -> None:
    browsers = Browsers(Storage(tmp_path), Settings(minutes_kept=10, max_sessions=2), ActivityLog(tmp_path / "a"))
    left, open_ = browsers.open("left"), browsers.open("open")
    assert browsers.open("left") is left
    with pytest.raises(TravasError, match="2 sessions are open, which is the limit"):
        browsers.open("third")
    closed, shown = open_.start_draft(), open_.start_draft()
    for draft in (left.start_draft(), closed, shown):
        (draft.folder / "log.csv").write_text("CANARY")
    left.seen -= 601
    for draft in (*left.drafts.values(), closed):
        draft.seen -= 601
    browsers.sweep()
    assert browsers.get("left") is None and not left.folder.exists()
    assert list(open_.drafts.values()) == [shown] and not closed.folder.exists()
    assert browsers.get("open") is open_ and browsers.get("") is None and browsers.open("third")
    browsers.close()
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_a_browser_has_a_limited_number_of_drafts_and_empty_ones_make_room(tmp_path: Path) -> None:
    browsers = Browsers(Storage(tmp_path), Settings(), ActivityLog(tmp_path / "a"))
    browser = browsers.open("key")
    drafts = [browser.start_draft() for _ in range(MAX_DRAFTS)]
    with pytest.raises(TravasError, match="20 drafts are open in this browser"):
        browser.start_draft()
    drafts[0].log = tmp_path / "log.csv"
    for draft in drafts[:2]:
        draft.seen -= 60
    assert browser.start_draft().id in browser.drafts
    assert drafts[0].id in browser.drafts and drafts[1].id not in browser.drafts
    browsers.close()


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/", Location("home")),
        ("/new", Location("new")),
        ("/new/a-_9/columns", Location("new", "a-_9", "columns")),
        ("/releases/0f", Location("releases", "0f")),
        ("/check", Location("check")),
        *(
            (path, None)
            for path in (
                "",
                "/new/",
                "/new/a",
                "/new/a/b/c",
                "/new/../x",
                "/releases/a/b",
                "/home",
                "/x",
                "/new/a/é",
                "//",
            )
        ),
    ],
)
def test_an_address_is_a_screen_or_nothing(path: str, location: Location | None) -> None:
    assert Location.parse(path) == location
    assert location is None or location.path == path


def test_a_storage_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"travas-web-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="not a directory owned by you"):
        Storage(tmp_path)


def test_the_port_is_taken_before_anything_else() -> None:
    """Otherwise another user could answer there while the app starts, and get the code of the link."""
    with listening("127.0.0.1", 0) as listener, socket.socket() as other:
        port = listener.getsockname()[1]
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        with pytest.raises(ParameterError, match=f"127.0.0.1:{port} cannot be used"):
            listening("127.0.0.1", port)
        socket.create_connection(("127.0.0.1", port), timeout=5).close()


def test_names_in_a_folder_cannot_break_the_page(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("case_id,activity\n1,a\n")
    (tmp_path / "circle.csv").symlink_to("circle.csv")
    (tmp_path / "out.csv").symlink_to("/etc/passwd")
    (tmp_path / os.fsdecode(b"\xff.csv")).write_text("a")  # cannot be sent to a browser
    os.mkfifo(tmp_path / "pipe.csv")
    assert folder_logs(Settings(folders=(tmp_path,))) == {f"{tmp_path.name}/log.csv": log}


def test_folders_of_one_name_hide_no_file(tmp_path: Path) -> None:
    folders = tuple(tmp_path / name / "logs" for name in ("a", "b", "a"))
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log.csv").touch()
    found = folder_logs(Settings(folders=folders))
    assert found == {"logs/log.csv": folders[0] / "log.csv", "logs (2)/log.csv": folders[1] / "log.csv"}


@pytest.mark.parametrize("name", ["optimal", "travas", "utravas", "ladder"])
def test_the_curve_follows_the_unit_and_the_rung(name: str) -> None:
    recipe = Recipe(name, "2", "1e-3", unit="patient", max_cases="3")
    chosen, found = recipe.build(), curve.view(recipe)
    assert chosen.unit == travas.PrivacyUnit("patient", 3) and found.mechanism == chosen
    if isinstance(chosen, Ladder):
        assert found.rung == "the one that will be selected" and found.points == curve.points(chosen.spending()[0][1])
    else:
        assert "different persons" in found.picture
    assert found.points != curve.points(Recipe(name, "2", "1e-3").build())


def test_the_number_of_runs_follows_from_a_small_epsilon() -> None:
    recipe = Recipe("utravas", "0.01", "1e-9", unit="patient", max_cases="200")
    assert curve.view(recipe) == curve.view(recipe.with_option("splits", 1)) and not curve.view(recipe).why


def test_the_curve_of_a_ladder_is_that_of_its_first_rung() -> None:
    recipe = Recipe("ladder").with_option("rungs", "full, prefix:2").with_option("shares", "equal")
    found = curve.view(recipe)
    assert found.rung == "full" and found.points == curve.points(recipe.build().spending()[0][1])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("recipe", "why"),
    [
        (Recipe(unit="patient"), "max_cases is not set"),
        (Recipe(unit="patient", max_cases="0"), "max_cases is 0"),
        (Recipe(unit="patient", max_cases="two"), "max_cases is 'two'"),
        (Recipe(unit="patient", max_cases="9" * 50), "must be a whole number of at most 19 digits"),
        (Recipe(unit="case", max_cases="2"), "reserved for single cases"),
        (Recipe(abstraction="only:/etc/passwd"), "files are not read here"),
        (Recipe(abstraction="fold | group:x"), "files are not read here"),
        (Recipe(abstraction="nothing"), "which does not exist"),
        (Recipe(abstraction="first", unit="patient", max_cases="2"), "would count it several times"),
        (Recipe("ladder").with_option("rungs", "full,without:/etc/passwd"), "files are not read here"),
        (Recipe("ladder").with_option("rungs", "full,full"), "twice"),
        (Recipe("ladder").with_option("shares", "1/2"), "shares is '1/2'"),
    ],
)
def test_what_is_typed_is_refused_in_one_line(recipe: Recipe, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object) -> None:
        raise AssertionError("a file was opened")

    monkeypatch.setattr("travas.log.abstraction.read_rules", opened)
    with pytest.raises(travas.ParameterError, match=why) as caught:
        recipe.check(travas.Reading())
    assert "\n" not in str(caught.value) and curve.view(recipe).why == in_words(caught.value)
    assert "--" not in in_words(caught.value)


def test_a_recipe_reads_the_log_for_its_mechanism() -> None:
    columns = travas.Reading(case="c", activity=("a",))
    recipe = Recipe(unit="patient", max_cases="2")
    assert recipe.reading(columns) == travas.Reading(
        case="c", activity=("a",), unit="patient", max_cases=2, counted="units"
    )
    ladder = replace(recipe.with_mechanism("ladder"), abstraction="fold")
    assert ladder.reading(columns).counted == "cases" and str(ladder.reading(columns).abstraction) == "fold"
    with pytest.raises(travas.ParameterError, match="no unique names"):
        recipe.check(travas.Reading(duplicate_cases="separate"))


@pytest.mark.parametrize("name", ["optimal", "ladder", "synthesis"])
def test_a_drawn_release_is_whole(name: str, tmp_path: Path) -> None:
    log = write_hospital_log(tmp_path / "log.csv")
    recipe = Recipe(name, unit="patient", max_cases="2")
    reading = recipe.reading(travas.Reading())
    drawn = tasks.draw(
        log,
        "log.csv",
        reading,
        recipe,
        tmp_path / "ledger.db",
        "",
        "original",
        tmp_path / "release.json",
        quiet,
        approval=Approval("decided"),
    )
    assert drawn.account.entries[-1].approval.reason == "decided"
    release = pickle.loads(pickle.dumps(drawn)).release
    assert release.to_polars().equals(drawn.release.to_polars())
    assert release == drawn.release or name == "synthesis"  # measurements are compared by identity
    settled = recipe.with_option("zone", "UTC") if name == "synthesis" else recipe  # the log has times
    assert release.mechanism == settled.build() and release.variants
    assert drawn.account.entries[-1].spending.unit == travas.PrivacyUnit("patient", 2)
    path = release.write(tmp_path / "r.xes.gz")
    tasks.report(release, path, tmp_path / "r.html", "", drawn.account, recipe, quiet)
    text = (tmp_path / "r.html").read_text()
    assert "one person" in text and "looked at" not in text
    looked_at = replace(recipe, looked_at=("a forecast that has read the original log",))
    tasks.report(release, path, tmp_path / "r2.html", "", drawn.account, looked_at, quiet)
    seen = (tmp_path / "r2.html").read_text()
    assert "the data owner looked at a forecast that has read the original log. No guarantee covers" in seen
    assert ("Synthetic log." in text and "<td>generated</td>" in text) == (name == "synthesis")


def test_weak_parameters_are_called_weak_before_the_release() -> None:
    assert curve.view(Recipe()).weak == ()
    assert "Weak protection" in curve.view(Recipe(epsilon="15", delta="0.5")).weak[0]
    assert "100,001 stated cases" in curve.view(Recipe(stated_cases="100001")).weak[0]
    assert "stated_cases is 0" in curve.view(Recipe(stated_cases="0")).why
    assert "stated_cases is 'many'" in curve.view(Recipe(stated_cases="many")).why
