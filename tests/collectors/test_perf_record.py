"""CPU by function, of the stacks that a recording left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.collect import counts
from stepgrid.collectors import perf_record, stacks


@pytest.mark.parametrize(("settings", "period"), [({}, 1e6 / 99), ({"frequency": 500}, 2000.0)])
def test_a_sample_is_a_period(tmp_path: Path, settings: dict[str, int], period: float) -> None:
    folder = tmp_path / "collectors" / "graph"
    folder.mkdir(parents=True)
    record = {"collector": "perf_record", "name": "graph", "exit": 0, **settings}
    (folder / "collector.json").write_text(json.dumps(record))
    assert list(counts.collector_counts(tmp_path)) == []
    (folder / "stacks.txt").write_text(stacks.text({("p", "main", "burn"): 3, ("p", "main"): 1}))
    assert sorted(counts.collector_counts(tmp_path)) == [
        ("perf_record", "burn", pytest.approx(3 * period)),
        ("perf_record", "main", pytest.approx(period)),
    ]


def test_nothing_is_drawn_of_a_recording_without_samples(tmp_path: Path) -> None:
    output = tmp_path / "said"
    output.write_text("")
    said = perf_record.COLLECTOR.draw(output, tmp_path)
    assert said == "perf took no sample: the step was too short, or waited all the time"
    assert list(tmp_path.iterdir()) == [output]
