"""The specs of the published experiments: they compile, and they are the experiments of the articles."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from stepgrid.model.plan import Plan, PlannedCell

SPECS = Path(__file__).resolve().parents[2] / "specs"
Compiled = Callable[..., Plan]
CELLS = {  # full scale, smoke scale
    "2016-01-linkbench-disk-array": (27, 9),
    "2022-03-mixgraph": (50, 20),
    "2023-01-insert-benchmark-amd": (72, 16),
    "2023-08-myrocks-gc-debt": (8, 8),
    "2024-11-mysql-scan-regressions": (11, 4),
    "2024-11-rocksdb-hyperclock-v2": (13, 3),
    "2024-11-rocksdb-leveled": (63, 9),
    "2024-11-rocksdb-lru-vs-hyperclock": (48, 16),
    "2024-11-rocksdb-universal": (63, 9),
    "2025-01-vector-mariadb-pgvector": (47, 6),
    "2024-12-speedb": (25, 14),
}
CLAIMS = {
    "2016-01-linkbench-disk-array": 5,
    "2022-03-mixgraph": 4,
    "2023-01-insert-benchmark-amd": 13,
    "2023-08-myrocks-gc-debt": 9,
    "2024-11-mysql-scan-regressions": 5,
    "2024-11-rocksdb-hyperclock-v2": 4,
    "2024-11-rocksdb-leveled": 10,
    "2024-11-rocksdb-lru-vs-hyperclock": 7,
    "2024-11-rocksdb-universal": 9,
    "2024-12-speedb": 22,
    "2025-01-vector-mariadb-pgvector": 2,
}
SMOKE_CLAIMS = {  # of others nothing can be told there
    "2016-01-linkbench-disk-array": 4,
    "2023-01-insert-benchmark-amd": 8,
    "2023-08-myrocks-gc-debt": 9,
    "2025-01-vector-mariadb-pgvector": 2,
}
RELEASES = [
    "6.0.2",
    "6.10.4",
    "6.20.4",
    "6.29.5",
    "7.0.4",
    "7.3.2",
    "7.6.0",
    "7.10.2",
    "8.0.0",
    "8.3.3",
    "8.6.7",
    "8.9.2",
    "8.11.4",
    "9.0.1",
    "9.1.2",
    "9.2.2",
    "9.3.2",
    "9.4.1",
    "9.5.2",
    "9.6.1",
    "9.7.3",
]
V2_RELEASES = [
    "6.0.2",
    "6.29.5",
    "7.0.4",
    "7.6.0",
    "7.7.8",
    "8.5.4",
    "8.6.7",
    "9.0.1",
    "9.1.2",
    "9.3.2",
    "9.5.2",
    "9.7.4",
    "9.9.0",
]
SEQUENCE = ["fillseq", "drain", "overwritesome", "flush", "settle", "revrangeww", "fwdrangeww", "readww"]
LEGACY = ["fillseq", "revrange", "overwritesome", "flush", "revrangeww", "fwdrangeww", "readww"]
FROM_SOURCE = {"2024-12-speedb": {"9.9orig", "9.9hack"}}  # at smoke scale: what a patch needs
BUILDS = {
    "2016-01-linkbench-disk-array": {"innodb", "innodb-compressed", "myrocks"},
    "2022-03-mixgraph": {"rocksdb"},
    "2023-01-insert-benchmark-amd": {f"innodb-{release}" for release in ("5.6.51", "5.7.40", "8.0.31")}
    | {"myrocks-5.6.35", "myrocks-8.0.28"}
    | {f"postgres-{release}" for release in ("12.13", "13.9", "14.6", "15.1")},
    "2023-08-myrocks-gc-debt": {"myrocks"},
    "2024-11-mysql-scan-regressions": {"my8028", "my8040", "my8040adv_pre", "my8040adv_post"},
    "2024-11-rocksdb-hyperclock-v2": {f"rocksdb-{release}" for release in V2_RELEASES},
    "2024-11-rocksdb-leveled": {f"rocksdb-{release}" for release in RELEASES},
    "2024-11-rocksdb-lru-vs-hyperclock": {"rocksdb"},
    "2024-11-rocksdb-universal": {f"rocksdb-{release}" for release in RELEASES},
    "2025-01-vector-mariadb-pgvector": {"mariadb", "pgvector"},
    "2024-12-speedb": {"speedb.udd0", "speedb.udd1", "9.9hack"}
    | {f"rocksdb-{release}" for release in ["7.3.2", "7.10.2", "8.5.4", "8.6.7", "9.7.4", "9.9.3"]},
}
STEPS = {  # without the variables of a live grid
    "2016-01-linkbench-disk-array": ["load", "request.1", "request.2", "request.3", "request.4"],
    "2022-03-mixgraph": ["load", "drain", "mixgraph"],
    "2023-01-insert-benchmark-amd": ["l.i0", "l.x", "l.i1", "q100.1", "q500.1", "q1000.1"],
    "2023-08-myrocks-gc-debt": ["l.i0", "l.x", "l.i1", "q100", "q500", "q1000"],
    "2024-11-rocksdb-hyperclock-v2": SEQUENCE,
    "2024-11-rocksdb-leveled": [*SEQUENCE, "overwrite"],
    "2024-11-rocksdb-lru-vs-hyperclock": ["fillseq", "drain", "overwritesome", "flush", "settle", "readww"],
    "2024-11-rocksdb-universal": [*LEGACY, "overwrite"],
    "2025-01-vector-mariadb-pgvector": ["load", "index", "search"],
    "2024-12-speedb": [*SEQUENCE, "overwrite"],
}


def names(one: PlannedCell) -> list[str]:
    """The steps of a cell, each once."""
    return list(dict.fromkeys(step.name.partition("[")[0] for step in one.steps))


def test_every_post_is_looked_at() -> None:
    posts = {path.stem for path in (SPECS / "posts").glob("*.yaml")}
    assert posts == CELLS.keys() == BUILDS.keys() == CLAIMS.keys()
    assert posts - STEPS.keys() == {"2024-11-mysql-scan-regressions"}


def test_the_page_says_how_many_cells() -> None:
    page = (SPECS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\(posts/([^)]+)\.yaml\) \| [^|]+ \| (\d+) \| (\d+) \|", page)
    assert {post: (int(full), int(smoke)) for post, full, smoke in rows} == CELLS


@pytest.mark.parametrize("post", CELLS)
def test_the_cells_at_full_scale(compiled: Compiled, post: str) -> None:
    assert len(compiled(post).cells) == CELLS[post][0]


@pytest.mark.parametrize("post", CELLS)
def test_the_cells_at_smoke_scale(compiled: Compiled, post: str) -> None:
    plan = compiled(post, "smoke")
    assert len(plan.cells) == CELLS[post][1]
    slow = {build.name for build in plan.builds if not build.source.keys() & {"maven", "debian"}}
    assert slow == FROM_SOURCE.get(post, set())
    assert sum(stage.seconds for stage in plan.stages) < 3600


@pytest.mark.parametrize("post", CELLS)
def test_the_builds_are_those_of_the_article(compiled: Compiled, post: str) -> None:
    assert {one.labels["build"] for one in compiled(post).cells} == BUILDS[post]


@pytest.mark.parametrize("post", STEPS)
def test_the_steps_are_those_of_the_article(compiled: Compiled, post: str) -> None:
    assert {tuple(names(one)) for one in compiled(post).cells} == {tuple(STEPS[post])}


def values(said: object) -> list[str]:
    return [said] if isinstance(said, str) else [str(value) for value in said or ()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("scale", [None, "smoke"])
@pytest.mark.parametrize("post", CELLS)
def test_base_and_tables_name_what_is_there(compiled: Compiled, post: str, scale: str | None) -> None:
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


@pytest.mark.parametrize("post", CELLS)
def test_the_claims_are_there_and_in_the_smoke_scale_where_it_can_tell(compiled: Compiled, post: str) -> None:
    assert len(compiled(post).report.claims) == CLAIMS[post]
    assert len(compiled(post, "smoke").report.claims) == SMOKE_CLAIMS.get(post, 0)
