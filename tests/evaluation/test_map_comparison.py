"""Maps compared with the original: distances are those of the definition, also on the command line."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from travas import Log, MapRelease, ParameterError, Reading, compare, process_map, read
from travas.evaluation.compare import compare_map
from travas.log.abstraction import parse_ladder
from travas.log.traces import Trace
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.outputs.write import write_hospital_log
from travas.releases.process_map import map_release
from travas.trusted.samplers import Seeded

LOG: dict[Trace, int] = {("a", "b", "b"): 600_000, ("a",): 400_000}


def without_pairs(released: MapRelease) -> MapRelease:
    nothing = replace(released.measurements, pairs=np.zeros_like(released.measurements.pairs))
    return replace(released, measurements=nothing)


def test_distances_of_a_map() -> None:
    # With other noise a false pair may be in the map, and its interval contains the true number, 0.
    released = with_random_bytes(mechanism("map", 4, "1e-3"), Seeded(1)).release(Log.from_mapping(LOG))
    assert isinstance(released, MapRelease) and len(released.pairs) == 5
    near = compare_map(Log.from_mapping(LOG), released)
    assert near.count_error < 0.001 and near.kept_mass == 1.0 and near.total_variation < 0.001
    empty = compare_map(Log.from_mapping(LOG), without_pairs(released))
    assert (empty.count_error, empty.kept_mass, empty.coverage, empty.false_pairs) == (1.0, 0.0, None, 0)
    other = compare_map(Log.from_mapping({("a", "b", "b"): 300_000, ("z",): 700_000}), released)
    assert other.coverage == 0.0 and other.false_pairs >= 1
    # S-a, a-b, b-b, b-E: 300,000 each, S-z and z-E: 700,000 each; released: S-a 10^6, a-E 400,000, others 600,000
    assert abs(other.count_error - (700_000 + 400_000 + 3 * 300_000 + 2 * 700_000) / 2_600_000) < 0.001


@pytest.mark.parametrize("form", ["release", "file"])
def test_a_map_is_compared_in_python_as_on_the_command_line(form: str, tmp_path: Path) -> None:
    made = with_random_bytes(mechanism("map", 4, "1e-3"), Seeded(1)).release(Log.from_mapping(LOG))
    found = compare(LOG, made if form == "release" else made.write(tmp_path / "map.json"))
    expected = compare_map(Log.from_mapping(LOG), map_release(made))
    assert found.process_map is not None and found.values == {}
    assert (found.process_map.kept_mass, found.process_map.coverage) == (expected.kept_mass, expected.coverage)
    assert found.as_json().keys() == {"process_map", "halves"}
    cells = [cell.text for cell in ElementTree.fromstring(found._repr_html_()).iter() if cell.tag in ("th", "td")]
    assert cells[:2] == ["Compared", "Result"] and dict(zip(cells[3::3], cells[4::3], strict=True)) == found.in_words()
    with pytest.raises(ParameterError, match="metrics are set .* remove all but fitness") as refused:
        compare("not read.csv", made, ["case_coverage", "fitness"])
    assert refused.value.field == "metrics"


def test_a_map_is_compared_under_its_own_abstraction(tmp_path: Path) -> None:
    log = write_hospital_log(tmp_path / "hospital.csv")
    rules = tmp_path / "rules.csv"
    rules.write_text("register,in\nin,arrived\n")  # applied twice, it would be another rule
    grouped = Reading(abstraction=parse_ladder(f"group:{rules}")[0])
    made = process_map(log, epsilon=4, delta="1e-3", reading=grouped)
    found = [compare_map(read(log, grouped), made), *(compare(one, made).process_map for one in (log, read(log)))]
    assert len({(one.kept_mass, one.false_pairs, one.coverage) for one in found if one is not None}) == 1
