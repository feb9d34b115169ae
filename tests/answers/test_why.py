"""Causes of a difference, from the files beside a step to the table of reasons; others are in reports.yaml."""

import json

from stepgrid_answers.why import why_table
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

OLD, NEW = "rocksdb-6.11.4", "rocksdb-7.8.3"
ALIKE = {"route": "debian", "suite": "trixie"}


def test_waits_of_sessions_come_from_the_files_beside_a_step_to_the_table(tmp_path):
    """Tables have them as counters of a source of their own."""
    found = Experiment(tmp_path, builds=(OLD, NEW), caches=("lru",), threads=("1",), base={"build": OLD}, seconds=1)
    for build in (OLD, NEW):
        found.add_build(build, ALIKE)
    for load in range(3):
        for build, rate, waiting in ((OLD, 1000.0, 0), (NEW, 500.0, 18)):
            found.add_load(build, load)
            result = found.add(build, "lru", "1", load, {"readww": rate * (1 + load / 1000), "overwrite": 1000.0})
            (statistics := next(result.glob("steps/*-readww")) / "statistics").mkdir(exist_ok=True)
            looks = {"looks": 20, "sessions": {"Lock:transactionid": waiting, "": 1}}
            (statistics / "sessions.json").write_text(json.dumps(looks))
            found.seal(result)
    made = scenario.report(found)
    (comparison,) = made.comparisons.all
    table = why_table(comparison, made.setup, made.data.details)
    assert table.rows[0][-1].text.startswith("waiting for row locks (transactionid) 0 → 1,79")
