"""The specs of the published experiments: they compile, and they are the experiments of the articles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.plan import Plan, PlannedCell, PlannedStep
from stepgrid.plan.assembly import compile_spec

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
    "2025-11-sysbench-postgres": (26, 6),
    "2025-12-sysbench-mysql": (8, 3),
    "2026-06-insert-benchmark-postgres": (4, 3),
    "2026-06-tproc-c-postgres": (126, 12),
}
CLAIMS = {
    "2016-01-linkbench-disk-array": 5,
    "2022-03-mixgraph": 4,
    "2023-01-insert-benchmark-amd": 19,
    "2023-08-myrocks-gc-debt": 15,
    "2024-11-mysql-scan-regressions": 13,
    "2024-11-rocksdb-hyperclock-v2": 4,
    "2024-11-rocksdb-leveled": 10,
    "2024-11-rocksdb-lru-vs-hyperclock": 10,
    "2024-11-rocksdb-universal": 9,
    "2024-12-speedb": 26,
    "2025-01-vector-mariadb-pgvector": 2,
    "2025-11-sysbench-postgres": 10,
    "2025-12-sysbench-mysql": 3,
    "2026-06-insert-benchmark-postgres": 4,
    "2026-06-tproc-c-postgres": 2,
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
    "2023-01-insert-benchmark-amd": {f"innodb-{release}" for release in ("5.6.51", "5.7.39", "8.0.31")}
    | {"myrocks-5.6.35", "myrocks-8.0.28"}
    | {f"postgres-{release}" for release in ("12.11", "13.7", "14.6", "15.1")},
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
BUILDS |= {
    "2025-11-sysbench-postgres": {"postgres-12.22"}
    | {
        f"postgres-{major}.{minor}"
        for major, last in ((13, 23), (14, 20), (15, 15), (16, 11), (17, 7), (18, 1))
        for minor in (last - 1, last)
    },
    "2025-12-sysbench-mysql": {
        f"mysql-{release}" for release in ["5.6.51", "5.7.44", "8.0.43", "8.0.44", "8.4.6", "8.4.7", "9.4.0", "9.5.0"]
    },
    "2026-06-insert-benchmark-postgres": {"pg17", "pg18", "pg19", "mysql"},
    "2026-06-tproc-c-postgres": {"pg19"}
    | {
        f"postgres-{major}.{minor}"
        for major, last in ((14, 23), (15, 18), (16, 14), (17, 10))
        for minor in (last - 1, last)
    }
    | {f"postgres-18.{minor}" for minor in range(5)},
}
MICROBENCHMARKS = {"2024-11-mysql-scan-regressions", "2025-11-sysbench-postgres", "2025-12-sysbench-mysql"}
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
    "2026-06-tproc-c-postgres": ["load", "rest", "run"],
    "2026-06-insert-benchmark-postgres": [
        *("l.i0", "l.x", "l.i1", "l.i2", "settle"),
        *("qr100.L1", "qp100.L2", "qr500.L3", "qp500.L4", "qr1000.L5", "qp1000.L6"),
    ],
}


def names(one: PlannedCell) -> list[str]:
    """The steps of a cell, each once."""
    return list(dict.fromkeys(step.name.partition("[")[0] for step in one.steps))


def test_every_post_is_looked_at() -> None:
    posts = {path.stem for path in (SPECS / "posts").glob("*.yaml")}
    assert posts == CELLS.keys() == BUILDS.keys() == CLAIMS.keys()
    assert posts - STEPS.keys() == MICROBENCHMARKS


def test_the_page_says_how_many_cells() -> None:
    page = (SPECS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\(posts/([^)]+)\.yaml\) \| [^|]+ \| (\d+) \| (\d+) \|", page)
    assert {post: (int(full), int(smoke)) for post, full, smoke in rows} == CELLS


@pytest.mark.parametrize("post", CELLS)
def test_the_cells_at_smoke_scale(compiled: Compiled, post: str) -> None:
    plan = compiled(post, "smoke")
    assert len(plan.cells) == CELLS[post][1]
    slow = {build.name for build in plan.builds if not build.source.keys() & {"maven", "debian"}}
    assert slow == FROM_SOURCE.get(post, set())
    assert sum(stage.seconds for stage in plan.stages) < 3600


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


def test_rows_of_the_insert_benchmark_are_those_of_all_clients(compiled: Compiled) -> None:
    plan = compiled("2023-01-insert-benchmark-amd")
    stages = {stage.id: stage for stage in plan.stages}
    rows = {
        (one.labels["data"], int(one.labels["clients"]) * int(str(step.settings["rows"])) // 10**6)
        for one in plan.cells
        for step in stages[one.repeats[0].stages[0]].steps
        if step.name in ("l.i0", "l.i1") and int(one.labels["clients"]) != 3  # which does not divide them
    }
    assert rows == {("cached", 20), ("io-bound", 500), ("io-bound", 10)}


def test_vectors_are_loaded_once_for_each_engine_and_indexed_for_each_cell(compiled: Compiled) -> None:
    plan = compiled("2025-01-vector-mariadb-pgvector")
    assert [len(plan.stages), len([s for s in plan.stages if s.parent is None])] == [2 + 2 * 47, 2]
    assert len([one for one in plan.cells if one.labels["build"] == "mariadb"]) == 9
    vectors = {one.labels["build"]: one for one in plan.cells}
    assert len([step for step in vectors["mariadb"].steps if step.name.startswith("search")]) == 7 * 14
    assert len([step for step in vectors["pgvector"].steps if step.name.startswith("search")]) == 9 * 14


def test_the_hack_reads_no_more_than_the_device_takes_at_once(compiled: Compiled) -> None:
    plan = compiled("2024-12-speedb")
    stages = {stage.id: stage for stage in plan.stages}
    readahead = {
        one.labels["build"]: stages[one.repeats[0].stages[-1]].steps[-1].options["compaction_readahead_size"].value
        for one in plan.cells
        if one.labels["data"] == "iobuf"
    }
    assert readahead.pop("9.9hack") == 128 * 1024 - 8 * 1024
    assert set(readahead.values()) == {2 * 1024**2}
    assert len(readahead) == 8
    assert len([one for one in plan.cells if one.labels["build"] == "9.9hack"]) == 1


def test_each_storage_engine_gets_its_own_options(compiled: Compiled) -> None:
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


LIBRARY = Path(__file__).resolve().parents[2] / "specs" / "library"
HOST = {"cpu": "a", "cores": 48, "memory": 2**37, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}
VERSIONS = [
    "4.13.5", "5.18.4", "6.0.2", "6.29.5", "7.3.2", "7.4.5", "7.6.0", "7.7.8", "8.5.4", "8.6.7", "8.7.3", "9.9.3",
    "10.9.1", "11.8.1",
]  # fmt: skip
Steps = Mapping[str, PlannedStep]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Steps]]:
    """Style of compaction -> release -> step."""
    return {style: _sweep(tmp_path_factory.mktemp(style), style) for style in ("leveled", "universal")}


def _sweep(folder: Path, style: str) -> dict[str, Steps]:
    included = [str(LIBRARY / f"{name}.yaml") for name in ("hardware", "rocksdb", "db_bench")]
    lines = [
        "title: a",
        f"include: {included}",
        f"builds: {{r: {{extends: rocksdb, versions: [{', '.join(VERSIONS)}]}}}}",
        f"options: [{style}, scripts, c48r128, v5.jobs, best-cache, byrx]",
        "workload: db_bench.sequence",
        "steps: [fillseq, drain, overwritesome, flush, settle, {checkpoint: loaded}, readww, overwriteandwait]",
        "params: {keys: 100M, threads: 40, duration: 30m, write_rate: 2MiB}",
    ]
    (folder / "a.yaml").write_text("\n".join(lines), encoding="utf-8")
    plan = compile_spec(str(folder / "a.yaml"), None, HOST)
    stages = {stage.id: stage for stage in plan.stages}
    return {
        cell.labels["build"].removeprefix("r-"): {
            step.name: step for node in cell.repeats[0].stages for step in stages[node].steps
        }
        for cell in plan.cells
    }


def options(step: PlannedStep) -> dict[str, Any]:
    return {name: option.value for name, option in step.options.items()}


def test_what_an_early_release_lacks_is_dropped(swept: Mapping[str, Mapping[str, Steps]]) -> None:
    """By what its db_bench lists; these came later than 4.13."""
    later = {
        "cache_high_pri_pool_ratio", "cache_low_pri_pool_ratio", "max_background_jobs", "metadata_block_size",
        "partition_index_and_filters", "pin_top_level_index_and_filter",
    }  # fmt: skip
    pools = {"cache_high_pri_pool_ratio", "cache_low_pri_pool_ratio"}  # universal compaction has none
    for style, ours in (("leveled", later), ("universal", later - pools)):
        given = swept[style]["4.13.5"]["readww"].options
        assert {name: given[name].unsupported for name in ours} == dict.fromkeys(ours, "drop")


def test_who_waits_for_compaction_and_how(swept: Mapping[str, Mapping[str, Steps]]) -> None:
    waiting = {
        style: [
            version
            for version, steps in releases.items()
            if "waitforcompaction" in str(steps["overwriteandwait"].settings["benchmarks"])
        ]
        for style, releases in swept.items()
    }
    assert waiting == {"leveled": VERSIONS[3:], "universal": VERSIONS[10:]}
    kinds = {tuple(step.kind for step in steps.values()) for releases in swept.values() for steps in releases.values()}
    assert kinds == {("db_bench", "quiesce", "db_bench", "db_bench", "quiesce", "db_bench", "db_bench")}
