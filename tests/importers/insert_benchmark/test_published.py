"""The published files, made again from what they were made of."""

import shutil

import pytest

from stepgrid.store.store import Store
from stepgrid.summarize.report_files import current_report
from stepgrid.summarize.report_formats import table
from stepgrid_databases.layouts import insert_benchmark
from stepgrid_published.results import publish, read_folder


@pytest.fixture
def folder(published):
    return published("insert_benchmark")


def measured(found):
    return [step for stage in found.planned.stages.values() for step in stage]


def test_a_merged_row_comes_from_the_summary_alone(folder, tmp_path):
    shutil.copy(folder / "o.sum.t.20m.rx80.cx6a", tmp_path)
    made = read_folder("insert_benchmark", tmp_path).summaries
    for name in ("mrg.l.i0", "mrg.q100.1"):
        head, _, row = (folder / name).read_text().splitlines()
        assert made[name].splitlines() == [head, row]


def test_the_layout_has_the_columns_of_the_published_row_again(folder):
    found = {(each.build, each.step): each for each in measured(read_folder("insert_benchmark", folder))}
    held = insert_benchmark.costs(found["rx80.cx6a", "q1000.2"].figures.metrics)
    lines = (folder / "o.sum.t.20m.rx80.cx6a").read_text().splitlines()
    said = dict(zip(lines[0].split("\t"), lines[15].split("\t"), strict=True))
    assert {name: float(said[name]) for name in held} == pytest.approx(held, abs=0.06)
    assert held.keys() == said.keys() - {"tag"}


@pytest.mark.parametrize("step", ["l.i0", "q100.1"])
def test_the_tables_of_a_report_are_the_published_ones(step, folder, tmp_path):
    """By the way that all results go: the store, Parquet, the layout. A load has no column of queries, there 0."""
    for path in folder.glob("[mo]*"):
        if not path.name.startswith("o.getmin"):
            shutil.copy(path, tmp_path)
    planned = read_folder("insert_benchmark", tmp_path).planned
    store = Store(tmp_path / "outputs")
    publish(store, planned)
    report = current_report(store, planned.plan)
    title = f"insert benchmark: {step}, metrics"
    for name, shown in (("mrg", title), ("rel", f"{title} relative to rx56.cx6a")):
        _, *made = table(report, "tsv", shown).splitlines()
        published = [line.split("\t") for line in (folder / f"{name}.{step}").read_text().splitlines()]
        assert [line.split("\t") for line in made] == [_shown(line, step) for line in published]


def _shown(cells, step):
    return [cells[0], *cells[2:]] if step.startswith("l.") else cells
