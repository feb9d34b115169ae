"""Whatever came before, tables and report are what they would be had nothing been there: no stale figure, no order."""

import random
import shutil

import pytest

from stepgrid.collect import query, result_figures, step_figures
from stepgrid.collect.job import collect
from stepgrid.model.records import replace
from stepgrid.store import stage_requests
from stepgrid.store.store import SummaryFiles
from stepgrid.summarize import report_files
from stepgrid_page import step_charts
from tests.summarize.synthetic import Experiment

BUILD, OTHER = "rocksdb-7.8.3", "rocksdb-9.10.0"
ACTS = ("add", "add", "redo", "retract", "undo", "fail", "correct")
LENGTH = 4


class Parser:
    """That of db_bench, with a mistake that depends on the revision."""

    def __init__(self, monkeypatch):
        self.parser = 1
        self._real = step_figures.require_runner("db_bench")
        monkeypatch.setattr(step_figures, "require_runner", lambda _: self)
        monkeypatch.setattr(result_figures, "runner", lambda _: self)

    def parse(self, folder, settings):
        found = self._real.parse(folder, settings)
        return replace(found, metrics={**found.metrics, "qps": found.metrics["qps"] * self.parser})


class Story:
    """Acts upon a store, as chance has it."""

    def __init__(self, root, seed, parser):
        self.found = Experiment(root, builds=(BUILD, OTHER), threads=("1",), loads=2, claims=CLAIMS)
        for build in self.found.builds:
            self.found.add_build(build)
            self.found.add_load(build, 0)
        self._chance, self._parser = random.Random(seed), parser

    def act(self):
        act = self._chance.choice(ACTS)
        do = getattr(self, f"_{act}")
        do()
        return act

    def _place(self):
        return self._chance.choice(self.found.builds), self._chance.choice(self.found.caches), "1", self._rolled(2)

    def _rolled(self, sides):
        return self._chance.randrange(sides)

    def _add(self):
        rates = {step: [1000.0 + self._rolled(500) for _ in range(5)] for step in ("readww", "overwrite")}
        self.found.add(*self._place(), rates)

    def _redo(self):
        for _ in range(2):
            self._add()

    def _results(self):
        stages = [stage.id for stage in self.found.plan.stages]
        return [result for stage in stages for result in self.found.store.all_results(stage)]

    def _retract(self):
        stage_requests.retract(self.found.store, self._chance.choice(self._results()), "a neighbour was loud")

    def _undo(self):
        for result in self._results():
            stage_requests.undo_retraction(self.found.store, result)

    def _fail(self):
        self.found.add_failure(self.found.stage(*self._place()), "db_bench was killed by SIGKILL")

    def _correct(self):
        self._parser.parser += 1


CLAIMS = ({"claim": "hyper is no slower", "expect": "qps(cache='hyper') >= qps(cache='lru')"},)


def made(found):
    """What collect and summarize come to."""
    collect(found.store, found.plan)
    report_files.write_report(found.store, report_files.read_report(found.store, found.plan.digest))
    with query.open_tables(found.store.tables(found.plan.digest)) as connection:
        tables = {
            name: connection.execute(f"SELECT * FROM {name} {'' if name == 'steps' else 'ORDER BY ALL'}").fetchall()
            for name in query.NAMES
        }
    files = SummaryFiles.of(found.store, found.plan.digest)
    return {**tables, "text": files.text.read_bytes(), "page": files.page.read_bytes()}


def fresh(found):
    """With nothing there but the results; what was there comes back afterwards."""
    folder = found.store.summary(found.plan.digest)
    aside, caches = (
        folder.with_name("aside"),
        [*found.store.root.glob("results/*/*/figures.*"), *found.store.root.glob("results/*/*/samples.*")],
    )
    folder.rename(aside)
    for path in caches:
        path.rename(path.with_name(f"aside-{path.name}"))
    try:
        return made(found)
    finally:
        folder.rename(folder.with_name("away"))
        shutil.rmtree(folder.with_name("away"))
        aside.rename(folder)
        for path in caches:
            path.with_name(f"aside-{path.name}").replace(path)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (0, 2, 3))])
def test_any_story_ends_as_if_nothing_had_been_before(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(step_charts, "MOST_PANELS", 2)
    story = Story(tmp_path, seed, Parser(monkeypatch))
    told = []
    for _ in range(LENGTH):
        told.append(story.act())
        now, wanted = made(story.found), fresh(story.found)
        for name in wanted:
            assert now[name] == wanted[name], (name, told)
