"""Published experiments at smoke scale: a few cells of one for each family; at night some of all, and all whole."""

import json
from typing import NamedTuple

import pytest

from tests.integration.conftest import ROOT, Lab
from tests.needs import needs

POSTS = sorted(path.stem for path in (ROOT / "specs" / "posts").glob("*.yaml"))
FROM_GITHUB = {post for post in POSTS if "rocksdb" in post} | {"2022-03-mixgraph", "2024-12-speedb"}
DONE = {"done", "unsupported"}


class Cut(NamedTuple):
    """A few cells of a spec, on less data, for a second each."""

    only: str
    sets: tuple[str, ...]
    registries: tuple[str, ...] = ("apt",)


def packaged(version, suite):
    """db_bench as a package: of a release as the spec has it, it is compiled from a repository."""
    return (f"builds.rocksdb.source={{debian: rocksdb-tools, suite: {suite}}}", version)


OLD = packaged("builds.rocksdb.version=6.11.4", "bullseye")
ONE = packaged("builds.rocksdb.version=9.10.0", "trixie")
LISTED = (*packaged("builds.rocksdb.versions=[9.10.0]", "trixie"), "report={base: null, tables: null}", "claims=null")
SECOND = "params.duration=1s"
HASTE = (SECOND, "params.timeout=2s")  # of the steps that wait until all is quiet
KEYS = ("params.keys=20k", *HASTE)
DATA = tuple(f"sweep.data.points.{name}.params.keys=20k" for name in ("byrx", "iobuf", "iodir"))
QUICK = ("params.read_time=1s", "params.write_time=1s", "params.timeout=2s")
POINT = "sweep.data.points.io-bound.params"
CUTS = {
    "2016-01-linkbench-disk-array": Cut("clients == 2", ("params.ids=1k", SECOND)),
    "2022-03-mixgraph": Cut(
        "cache == '4MiB' and (config == 'all_random' or config == 'hwperf' and mix == 'all')", (*OLD, *KEYS)
    ),
    "2023-01-insert-benchmark-amd": Cut(
        "clients == 2 and data == 'io-bound'", (f"{POINT}.x=2k", f"{POINT}.y=1k", SECOND), ("apt", "maven")
    ),
    "2023-08-myrocks-gc-debt": Cut(
        "data == 'io-bound' and gc in ['base', 'sd8k']", (f"{POINT}.rows=2k", f"{POINT}.more_rows=1k", SECOND)
    ),
    "2024-11-mysql-scan-regressions": Cut("server == 'two' and build == 'my8031'", QUICK, ("apt", "maven")),
    "2024-11-rocksdb-hyperclock-v2": Cut("true", (*LISTED, *KEYS)),
    "2024-11-rocksdb-leveled": Cut("true", (*LISTED, *DATA, *HASTE)),
    "2024-11-rocksdb-lru-vs-hyperclock": Cut("threads == 2 and write_rate == '8MiB' and fanout == 8", (*ONE, *KEYS)),
    "2024-11-rocksdb-universal": Cut("true", (*LISTED, *DATA, *HASTE)),
    "2025-01-vector-mariadb-pgvector": Cut(
        "index in ['m8', 'm8-efc64', 'm16-efc64-halfvec']",
        ("params.dataset={generated: {rows: 300, dimensions: 16, centres: 5}}",),
    ),
    "2024-12-speedb": Cut("build == 'rocksdb-9.10.0'", (*LISTED, *DATA, *HASTE)),
    "2025-11-sysbench-postgres": Cut("server == 'two' and build == 'postgres-17.11'", QUICK, ("apt", "maven")),
    "2025-12-sysbench-mysql": Cut("build == 'my8031'", QUICK, ("apt", "maven")),
    "2026-06-insert-benchmark-postgres": Cut(
        "build == 'pg17'", ("params.rows=2k", "params.more_rows=1k", SECOND), ("apt", "maven")
    ),
    "2026-06-tproc-c-postgres": Cut(
        "build == 'postgres-17.11' and warehouses == 1", (SECOND, "params.warm_time=1s"), ("apt", "maven")
    ),
}
BY_DAY = {  # RocksDB, MySQL's relatives, PostgreSQL
    "2024-11-rocksdb-hyperclock-v2": "true",
    "2023-08-myrocks-gc-debt": "data == 'io-bound' and gc == 'base'",
    "2025-01-vector-mariadb-pgvector": "index == 'm8'",
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """One folder for all: they share builds."""
    folder = tmp_path_factory.mktemp("posts")
    (folder / "specs").symlink_to(ROOT / "specs")
    return Lab(folder)


def run(lab, spec, *words, timeout):
    """Every stage is done, or unsupported with a reason; and the report comes out."""
    asked = (f"specs/{spec}.yaml", "--scale", "smoke", *words)
    done = lab.execute(lab.argv("run", *asked), timeout)
    assert done.returncode == 0, done.stderr[-3000:]
    nodes = json.loads(lab.execute(lab.argv("status", *asked, "--format", "json")).stdout)["nodes"]
    stages = [node for node in nodes if node["kind"] == "stage"]
    assert stages
    assert {node["title"]: node["state"] for node in stages if node["state"] not in DONE} == {}
    assert [node["title"] for node in stages if node["state"] == "unsupported" and not node["because"]] == []
    assert lab.execute(lab.argv("report", *asked)).returncode == 0


def run_cut(lab, post, cut):
    run(lab, f"posts/{post}", "--only", cut.only, *(word for text in cut.sets for word in ("--set", text)), timeout=900)


def test_no_post_is_left_out():
    assert CUTS.keys() == set(POSTS)


@needs("apt")
@pytest.mark.parametrize("post", BY_DAY)
def test_a_few_cells(lab, post):
    run_cut(lab, post, CUTS[post]._replace(only=BY_DAY[post]))


@pytest.mark.nightly
@pytest.mark.parametrize("post", [pytest.param(post, marks=needs(*cut.registries)) for post, cut in CUTS.items()])
def test_a_cell_of_each_kind(lab, post):
    run_cut(lab, post, CUTS[post])


@pytest.mark.nightly
@pytest.mark.parametrize(
    "post", [pytest.param(post, marks=needs("apt", "maven", *["github"][: post in FROM_GITHUB])) for post in POSTS]
)
def test_the_whole_of_it(lab, post):
    run(lab, f"posts/{post}", timeout=3 * 3600)


@pytest.mark.nightly
@needs("apt", "cargo", "maven")
@pytest.mark.parametrize("spec", ["embedded", "fio", "pgbench", "valkey"])
def test_a_shipped_spec(lab, spec):
    run(lab, spec, timeout=3000)
