"""Everything in the library resolves: every option set on each of its engines, every workload, every server."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from stepgrid.plan.assembly import compile_spec

LIBRARY = Path(__file__).resolve().parents[2] / "specs" / "library"
HOST = {"cpu": "a", "cores": 2, "memory": 2**33, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}
PARAMS = {  # what each family of workloads is given
    "db_bench": "keys: 1k, threads: 2, duration: 10s",
    "hammerdb": "warehouses: 1, loaders: 1, users: 1, rampup: 0.1, minutes: 1",
    "insert_benchmark": "rows: 1k, more_rows: 1k, clients: 2, deletes: true, duration: 10s",
    "kv_bench": "keys: 1k, threads: 2, seconds: 1, durability: sync",
    "linkbench": "ids: 1k, clients: 2, duration: 10s",
    "pgbench": "scale: 1, clients: 2, duration: 10s",
    "sysbench": "tables: 2, rows: 1k, threads: 2, read_time: 1s, write_time: 1s",
    "tpcc": "warehouses: 1, clients: 2, duration: 10s",
    "vector": "dataset: fashion-mnist-784-euclidean, m: 8, ef_construction: 32, clients: 2",
}
BUILDS = {  # engine -> builds, one for each of its storage engines; sets may need a late release
    "rocksdb": ["{engine: rocksdb, version: 5.18.4, source: {system: db_bench}}", "{extends: rocksdb, version: 9.9.3}"],
    "mysql": ["{extends: mysql, versions: [5.7.40, 8.0.31]}", "{extends: myrocks, version: 8.0.28}"],
    "mariadb": ["{extends: mariadb, version: 11.7.1}", "{extends: mariadb.debian, params: {storage_engine: rocksdb}}"],
    "postgres": ["{extends: postgres, version: 18.0}"],
}


def defined(section):
    found = {}
    for path in sorted(LIBRARY.glob("*.yaml")):
        found |= YAML(typ="safe", pure=True).load(path)["define"].get(section, {})
    return found


SETS = defined("options")


def engine_of(name):
    """The engine that a set is for, its own or that of the set that it extends."""
    said = SETS[name]
    engine = said.get("engine")
    return engine_of(said["extends"]) if engine is None else str(engine[0] if isinstance(engine, list) else engine)


def planned(folder, *lines):
    included = [str(path) for path in sorted(LIBRARY.glob("*.yaml"))]
    spec = folder / "a.yaml"
    spec.write_text("\n".join([f"title: a\ninclude: {included}", *lines]), encoding="utf-8")
    return compile_spec(str(spec), None, HOST)


def builds(engine):
    return f"builds: {{{', '.join(f'b{i}: {build}' for i, build in enumerate(BUILDS[engine]))}}}"


def steps(engine):
    kind = "db_bench, benchmarks: [fillseq], keys: 1k" if engine == "rocksdb" else "quiesce"
    return f"steps: [{{name: only, kind: {kind}}}]"


@pytest.mark.parametrize("engine", BUILDS)
def test_every_option_set_resolves(tmp_path, engine):
    """As options of builds of its own: one plan of all sets takes a tenth of a plan for each."""
    names = [name for name in SETS if engine_of(name) == engine]
    below = "leveled, c4r16, byrx, " if engine == "rocksdb" else ""  # that a set may refer to
    entries = [
        f"{number}b{place}: {build[:-1]}, options: [{below}{name}]}}"
        for number, name in enumerate(names)
        for place, build in enumerate(BUILDS[engine])
    ]
    plan = planned(tmp_path, f"builds: {{{', '.join(entries)}}}", steps(engine))
    options = {stage.id: stage.steps[0].options for stage in plan.stages}
    resolved = {cell.labels["build"].partition("b")[0] for cell in plan.cells if options[cell.repeats[0].stages[0]]}
    assert [name for number, name in enumerate(names) if str(number) not in resolved] == []


def test_every_option_set_is_of_an_engine():
    assert {engine_of(name) for name in SETS} == BUILDS.keys()


@pytest.mark.parametrize(("machine", "name"), [("x86_64", "amd64"), ("aarch64", "arm64v8")])
def test_binaries_of_postgres_are_those_for_the_machine(tmp_path, monkeypatch, machine, name):
    monkeypatch.setitem(HOST, "architecture", machine)
    (build,) = planned(tmp_path, "builds: {a: {extends: postgres.zonky, version: 17.11}}", steps("postgres")).builds
    assert build.source["maven"] == f"io.zonky.test.postgres:embedded-postgres-binaries-linux-{name}:17.11.0"


@pytest.mark.parametrize("name", defined("workloads"))
def test_every_workload_resolves(tmp_path, name):
    kind = name.split(".")[0]
    engine = {"db_bench": "rocksdb", "vector": "mariadb", "pgbench": "postgres"}.get(kind, "mysql")
    options = "options: [leveled, c4r16, byrx]" if engine == "rocksdb" else ""
    made = builds(engine).replace("5.18.4", "6.0.2")  # which is the first with mixgraph
    if name == "hammerdb":
        made = "builds: {a: {extends: postgres.zonky, version: 17.11}}"
    if name == "hammerdb.mysql":
        made = "builds: {a: {extends: mariadb.debian, version: 11.8}}"
    if kind == "kv_bench":
        made = "builds: {a: {extends: kv_bench.redb}}"
    plan = planned(tmp_path, made, options, f"workload: {name}", f"params: {{{PARAMS[kind]}}}")
    assert plan.stages
    assert all(stage.steps for stage in plan.stages)


def test_the_servers_of_db_bench_have_the_caches_of_the_table(tmp_path):
    """Jobs and GB of block cache; the table of the published scripts."""
    table = {
        "c4r16": (3, 10), "c8r16": (4, 10), "c8r32": (4, 20), "c16r16": (8, 12), "c16r64": (8, 48), "c16r64b": (8, 48),
        "c24r64": (12, 48), "c30r240": (8, 180), "c30r240bc150": (8, 150), "c32r128": (8, 90), "c48r128": (12, 90),
        "c40r256": (8, 210), "c40r256bc180": (8, 180), "c4bc1g": (3, 1), "c16bc1g": (8, 1), "c40bc1g": (8, 1),
    }  # fmt: skip
    listed = ", ".join(f"{name}: {{extends: rocksdb, version: 9.9.3, options: {name}}}" for name in table)
    plan = planned(tmp_path, f"builds: {{{listed}}}", steps("rocksdb"))
    stages = {stage.id: stage for stage in plan.stages}
    found = {cell.labels["build"]: stages[cell.repeats[0].stages[0]].steps[0].options for cell in plan.cells}
    named = {name: (o["max_background_jobs"].value, o["cache_size"].value) for name, o in found.items()}
    assert named == {name: (jobs, gigabytes * 2**30) for name, (jobs, gigabytes) in table.items()}
    assert found["c16r64b"]["write_buffer_size"].value == 128 * 2**20
    assert found["c16r64b"]["target_file_size_base"].value == 8 * 2**20
