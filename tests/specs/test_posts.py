"""The specs of the published experiments: each is the experiment of its article."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

SPECS = Path(__file__).resolve().parents[2] / "specs"
POSTS = sorted(path.stem for path in (SPECS / "posts").glob("*.yaml"))
FROM_SOURCE = {"2024-12-speedb": {"9.9orig", "9.9hack"}}  # at smoke scale: what a patch needs


def names(one):
    """The steps of a cell, each once."""
    return list(dict.fromkeys(step.name.partition("[")[0] for step in one.steps))


@pytest.mark.parametrize("post", POSTS)
def test_the_experiment_of_the_article(compiled, post, golden):
    """Its cells at full and at smoke scale, loads, builds, axes, steps, claims and tables."""
    lines = []
    for scale in (None, "smoke"):
        plan = compiled(post, scale)
        roots = sum(stage.parent is None for stage in plan.stages)
        lines += [f"scale {scale or 'full'}: {len(plan.cells)} cells, {len(plan.stages)} stages, {roots} loads"]
        lines += [f"  {axis.name}: {' '.join(axis.labels)}" for axis in plan.axes]
        lines += [f"  steps: {' '.join(steps)}" for steps in sorted({tuple(names(one)) for one in plan.cells})]
        lines += [f"  claim: {claim.claim}" for claim in plan.report.claims]
        lines += [f"  table: {table['title']}" for table in plan.report.tables if "title" in table]
    golden("\n".join(lines) + "\n")


def test_the_page_says_how_many_cells(compiled):
    page = (SPECS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\(posts/([^)]+)\.yaml\) \| [^|]+ \| (\d+) \| (\d+) \|", page)
    cells = {post: (len(compiled(post).cells), len(compiled(post, "smoke").cells)) for post in POSTS}
    assert {post: (int(full), int(smoke)) for post, full, smoke in rows} == cells


@pytest.mark.parametrize("post", POSTS)
def test_a_try_needs_no_compiler_and_less_than_an_hour(compiled, post):
    plan = compiled(post, "smoke")
    slow = {build.name for build in plan.builds if not build.source.keys() & {"maven", "debian"}}
    assert slow == FROM_SOURCE.get(post, set())
    assert sum(stage.seconds for stage in plan.stages) < 3600


def values(said):
    return [said] if isinstance(said, str) else [str(value) for value in said or ()]


@pytest.mark.parametrize("scale", [None, "smoke"])
@pytest.mark.parametrize("post", POSTS)
def test_base_and_tables_name_what_is_there(compiled, post, scale):
    plan = compiled(post, scale)
    axes = {axis.name: set(axis.labels) for axis in plan.axes}
    variables = {name for one in plan.cells for step in one.steps for name in step.variables}
    steps = {name for one in plan.cells for name in names(one)}
    assert all(label in axes[axis] for axis, label in plan.report.base.items())
    assert plan.report.tables or scale
    for table in plan.report.tables:
        shown = [*values(table.get("rows")), *values(table.get("columns")), *values(table.get("by"))]
        assert set(shown) <= axes.keys() | variables | {"step"}, table
        where = table.get("where") or {}
        assert isinstance(where, Mapping)
        for axis, labels in where.items():
            assert set(values(labels)) <= (steps if axis == "step" else axes[axis]), table


def test_each_storage_engine_gets_its_own_options(compiled):
    for post in ("2016-01-linkbench-disk-array", "2023-01-insert-benchmark-amd"):
        for scale in (None, "smoke"):
            plan = compiled(post, scale)
            stages = {stage.id: stage for stage in plan.stages}
            for one in plan.cells:
                step = stages[one.repeats[0].stages[0]].steps[0]
                others = {"innodb": "rocksdb_", "rocksdb": "innodb_"}.get(str(step.settings.get("storage_engine")))
                strange = {name for name in step.options if name.startswith(others or ("innodb_", "rocksdb_"))}
                # every server of MariaDB has InnoDB's log, which is in the size of its database
                assert strange <= {"innodb_log_file_size"}, (post, scale, one.labels)
                assert step.options
