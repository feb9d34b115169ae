"""What was read once is not read again: by a later collect, or for another plan; what counts no more goes."""

import json
import shutil
import time
from dataclasses import replace

import pytest

from stepgrid.collect.job import collect
from stepgrid.collect.tables import part, part_index, parts, table_views
from stepgrid.store import retractions
from stepgrid.store.status.integrity import SLACK
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture
def experiment(tmp_path):
    found = Experiment(tmp_path, loads=1)
    found.add_build(BUILD)
    found.add_load(BUILD, 0)
    found.add(BUILD, "lru", "1", 0, {"readww": 1000.0, "overwrite": 500.0})
    return found


@pytest.fixture
def read(monkeypatch):
    """The results whose steps were read."""
    seen = []
    every = part.every

    def noted(results):
        seen.extend(result.folder.parent.name for result, _ in results)
        return every(results)

    monkeypatch.setattr(part, "every", noted)
    return seen


def folder(experiment, plan=None):
    return experiment.store.tables((plan or experiment.plan).digest)


def rows(experiment, sql, plan=None):
    with table_views.opened(folder(experiment, plan)) as connection:
        return connection.execute(sql).fetchall()


STAGES = "SELECT DISTINCT stage FROM series ORDER BY stage"


def test_only_the_new_result_is_read(experiment, read):
    collect(experiment.store, experiment.plan)
    assert read == ["s-7.8.3-load-0", "s-7.8.3-lru-1-0"]
    experiment.add(BUILD, "hyper", "1", 0, {"readww": 2000.0, "overwrite": 700.0})
    read.clear()
    collect(experiment.store, experiment.plan)
    assert read == ["s-7.8.3-hyper-1-0"]
    assert rows(experiment, STAGES) == [("s-7.8.3-hyper-1-0",), ("s-7.8.3-load-0",), ("s-7.8.3-lru-1-0",)]
    assert rows(experiment, "SELECT qps FROM steps WHERE step = 'readww' AND status = 'done' ORDER BY qps") == [
        (1000.0,),
        (2000.0,),
    ]
    assert [path.name for path in folder(experiment).glob("series*")] == ["series.parquet"]  # a small part is merged


def test_nothing_new_reads_nothing(experiment, read):
    collect(experiment.store, experiment.plan)
    before = (folder(experiment) / "series.parquet").stat().st_ino
    read.clear()
    collect(experiment.store, experiment.plan)
    assert read == []
    assert (folder(experiment) / "series.parquet").stat().st_ino == before


def test_what_was_found_to_be_sound_is_noted_for_the_next_look(experiment):
    began = time.time()
    collect(experiment.store, experiment.plan)
    assert began - SLACK <= experiment.store.looked(experiment.plan.digest) <= time.time() - SLACK


def test_another_plan_takes_them_over(experiment, read):
    collect(experiment.store, experiment.plan)
    read.clear()
    other = replace(experiment.plan, digest="p-other")
    collect(experiment.store, other)
    assert read == []
    assert rows(experiment, "SELECT * FROM series ORDER BY ALL", other) == rows(
        experiment, "SELECT * FROM series ORDER BY ALL"
    )
    assert (folder(experiment) / "series.parquet").samefile(folder(experiment, other) / "series.parquet")


def test_a_plan_with_fewer_stages_has_no_rows_of_the_others(experiment, monkeypatch):
    monkeypatch.setattr(parts, "WORTH", 1)
    collect(experiment.store, experiment.plan)
    few = tuple(stage for stage in experiment.plan.stages if "load" in stage.id)
    other = replace(experiment.plan, digest="p-few", cells=(), stages=few)
    collect(experiment.store, other)
    assert rows(experiment, STAGES, other) == [("s-7.8.3-load-0",)]
    assert rows(
        experiment, "SELECT DISTINCT split_part(subject, '/', 1) FROM environment WHERE scope = 'host'", other
    ) == [("s-7.8.3-load-0",)]


def test_what_is_taken_out_has_no_rows(experiment, read):
    collect(experiment.store, experiment.plan)
    retractions.retract(experiment.store, experiment.store.result("s-7.8.3-lru-1-0"), "noise")
    read.clear()
    collect(experiment.store, experiment.plan)
    assert read == []
    assert rows(experiment, STAGES) == [("s-7.8.3-load-0",)]


def test_a_changed_result_and_another_version_are_read_again(experiment, read):
    collect(experiment.store, experiment.plan)
    path = experiment.store.result("s-7.8.3-lru-1-0") / "result.json"
    path.write_text(path.read_text())
    read.clear()
    collect(experiment.store, experiment.plan)
    assert read == ["s-7.8.3-lru-1-0"]
    listed = folder(experiment) / part_index.FILE
    listed.write_text(json.dumps({**json.loads(listed.read_text()), "made": "by another"}))
    read.clear()
    collect(experiment.store, experiment.plan)
    assert read == ["s-7.8.3-load-0", "s-7.8.3-lru-1-0"]
    assert rows(experiment, STAGES) == [("s-7.8.3-load-0",), ("s-7.8.3-lru-1-0",)]


def test_a_collect_that_was_killed_is_begun_again(experiment):
    collect(experiment.store, experiment.plan)
    part_index.drop(folder(experiment))
    shutil.copy(folder(experiment) / "series.parquet", folder(experiment) / "series.1.parquet")
    collect(experiment.store, experiment.plan)
    assert rows(experiment, "SELECT count(*) FROM series") == [(4 + 8,)]


def test_large_parts_stay_apart(experiment, monkeypatch):
    monkeypatch.setattr(parts, "LARGE", 1)
    monkeypatch.setattr(parts, "MOST", 1)
    collect(experiment.store, experiment.plan)
    assert sorted(path.name for path in folder(experiment).glob("series*")) == ["series.1.parquet", "series.parquet"]
    assert rows(experiment, "SELECT count(*), count(DISTINCT stage) FROM series") == [(4 + 8, 2)]


def test_tables_of_another_version_say_so(experiment, monkeypatch):
    collect(experiment.store, experiment.plan)
    for version, said in (
        (8, "tables of version 7; this one reads 8, and collecting makes them again"),
        (1, "tables of version 7, by a newer stepgrid; this one reads 1"),
    ):
        monkeypatch.setattr(table_views, "SCHEMA", version)
        with pytest.raises(table_views.NoTables) as caught, table_views.opened(folder(experiment)):
            pass
        assert str(caught.value) == f"{folder(experiment)}: {said}"
