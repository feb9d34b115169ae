"""Reads that missed keys which were loaded are no figures of reads: the text, the page and each comparison say so."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

from stepgrid.store import plans
from stepgrid.summarize.data.missed_lookups import marks, sentences
from stepgrid.summarize.page import summary_text
from tests.summarize import scenario
from tests.summarize.made import point, run
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"
SAYS = ("found 0.1 % of the keys that it looked up; 100 % were expected",)


def missed(cell: str, load: int, found: float = 0.1):
    return replace(run(cell, load, 100.0, found_pct=found, found_expected_pct=100.0), warnings=SAYS)


def test_a_comparison_counts_such_runs_on_both_sides() -> None:
    arm, base = point(missed("x", 0), run("x", 1, 100.0)), point(run("y", 0, 100.0))
    assert list(marks(arm, base)) == ["fewer keys found than expected in 1 of 2 runs, in 0 of 1 of the base"]
    assert list(marks(base, base)) == []


def test_a_sentence_for_each_step() -> None:
    assert list(sentences([missed("x", 0), missed("y", 1, 0.25), run("z", 0, 1.0)])) == [
        "readww of b: found 0.1 % to 0.25 % of the keys that it looked up; 100 % were expected: "
        "lookups of missing keys are part of these figures"
    ]
    assert list(sentences([run("z", 0, 1.0, found_pct=1.0)])) == []


def test_the_text_and_the_page_say_it(tmp_path: Path) -> None:
    found = Experiment(tmp_path, threads=("1",), loads=1)
    (load,) = (stage for stage in found.plan.stages if stage.parent is None)
    fresh = replace(load.steps[0], settings={**load.steps[0].settings, "fresh": True})
    others = [stage for stage in found.plan.stages if stage.parent]
    found.plan = replace(found.plan, stages=(replace(load, steps=(fresh,)), *others))
    shutil.rmtree(found.store.plan(found.plan.digest))
    plans.write(found.plan, found.store.plan(found.plan.digest))
    found.add_build(BUILD)
    found.add_load(BUILD, 0)
    for cache in ("lru", "hyper"):
        result = found.add(BUILD, cache, "1", 0, {"readww": 10_000.0, "overwrite": 10_000.0})
        path = result / "steps/0-readww/stdout"
        path.write_text(re.sub(r"^(readwhilewriting .*)$", r"\1 (40 of 40000 found)", path.read_text(), flags=re.M))
        found.seal(result)
    scenario.report(found)
    page = (summary_text.path(found.store, found.plan.digest).parent / "index.html").read_text()
    text = " ".join(scenario.text(found).split())
    for said in (
        "readww of rocksdb-7.8.3: found 0.1 % of the keys that it looked up; 100 % were expected: "
        "lookups of missing keys are part of these figures",
        "† fewer keys found than expected in 1 of 1 runs, in 1 of 1 of the base: readww, cache=hyper",
    ):
        assert said in text
        assert said in page
