"""Generated points, machines, live grids, launch, probes, claims, tables, locks, --only and --set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.language import render
from compiler.language.problem import SpecError
from compiler.plan.compile import compile_spec
from compiler.plan.model import Plan
from tests.conftest import HOST

Compile = Callable[..., Plan]
Complaints = Callable[..., str]

BASE = """\
title: t
builds: {rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}
params: {keys: 1k, duration: 1s}
"""
SERVER = """\
title: t
builds: {maria: {engine: mariadb, version: 11.8, source: {debian: mariadb-server, suite: trixie}}}
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}}}
steps:
  - {name: load, kind: sysbench, lua: load, tables: 1, rows: 10, threads: 1}
  - checkpoint: loaded
  - {name: point, kind: sysbench, lua: point_query, tables: 1, rows: 10, threads: 1, duration: 1s}
  - {name: more, kind: sysbench, lua: point_query, tables: 1, rows: 10, threads: 1, duration: 1s}
"""


def labels(plan: Plan, axis: str) -> list[str]:
    return next(list(found.labels) for found in plan.axes if found.name == axis)


def option(plan: Plan, name: str) -> dict[str, object]:
    """Label of the axis `a` -> the option's value in the measured step."""
    stages = {stage.id: stage for stage in plan.stages}
    return {cell.labels["a"]: stages[cell.repeats[0].stages[-1]].steps[-1].options[name].value for cell in plan.cells}


def test_generated_points_beside_named_ones(compile_text: Compile) -> None:
    axis = """
  a:
    from: loaded
    points: {base: {options: {block_size: 4096, num_levels: 3}}}
    each: [8KiB, 32KiB]
    as: window
    name: "sd{{ window // 1024 }}k"
    options: {block_size: "{{ window }}", num_levels: "{{ window // 8192 }}"}
"""
    plan = compile_text(BASE + "sweep:" + axis)
    assert labels(plan, "a") == ["base", "sd8k", "sd32k"]
    assert option(plan, "block_size") == {"base": 4096, "sd8k": 8192, "sd32k": 32768}
    assert option(plan, "num_levels") == {"base": 3, "sd8k": 1, "sd32k": 4}


def test_a_list_of_groups_each_with_its_own_condition(compile_text: Compile) -> None:
    axis = """
  a:
    points:
      - {each: [4, 5], as: m, name: "m{{ m }}", when: "version < '8'", options: {num_levels: "{{ m }}"}}
      - {each: [{m: 8, e: 32}, {m: 16, e: 32}], as: p, name: "m{{ p.m }}-e{{ p.e }}", when: "version > '8'",
         options: {num_levels: "{{ p.m }}", block_size: "{{ p.e }}"}}
"""
    plan = compile_text(BASE + "sweep:" + axis)
    assert [cell.labels["build"] + " " + cell.labels["a"] for cell in plan.cells] == [
        "rocksdb-7.8.3 m4", "rocksdb-7.8.3 m5", "rocksdb-9.10.0 m8-e32", "rocksdb-9.10.0 m16-e32",
    ]  # fmt: skip
    assert option(plan, "num_levels") == {"m4": 4, "m5": 5, "m8-e32": 8, "m16-e32": 16}


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        ('{each: [1, 2], as: m, name: "m{{ n }}"}', "a.yaml:8:40: error[undefined-name]: `n` is not defined"),
        ('{each: [1, 2], as: m, name: "m"}', "error[point-twice]: two points of the axis are named `m`"),
        ('{each: [1, 2], as: params, name: "{{ params }}"}', "error[reserved-name]: `params` means something else"),
        ('{each: [], as: m, name: "m"}', "error[out-of-range]: `each`: expected at least one entry"),
        ("{each: [1, 2], as: m}", "error[missing-key]: `name` is missing"),
    ],
)
def test_faults_of_generated_points(complaints: Complaints, axis: str, said: str) -> None:
    assert said in complaints(BASE + f"sweep: {{a: {axis}}}\n")


def test_a_machine_of_each_point(compile_text: Compile) -> None:
    text = (
        BASE
        + """
define: {hardware: {big: {cores: 48, memory: 128GiB}}}
options: [{max_background_jobs: "{{ hardware.cores // 2 }}"}]
sweep:
  hardware:
    big: {hardware: big}
    bee: {hardware: {id: bee, cores: 8}, params: {threads: 4}}
    host: {hardware: here}
exclude: ["hardware == 'bee' and version < '8'"]
"""
    )
    plan = compile_text(text)
    assert len(plan.cells) == 5
    machines = {cell.labels["hardware"]: stage for cell in plan.cells for stage in plan.stages
                if stage.id == cell.repeats[0].stages[0]}  # fmt: skip
    assert {label: stage.steps[0].options["max_background_jobs"].value for label, stage in machines.items()} == {
        "big": 24, "bee": 4, "host": 1,
    }  # fmt: skip
    assert {machines[label].hardware for label in ("big", "bee")} == {"big", "bee"}
    assert plan.machines["big"] == {"id": "big", "cores": 48, "memory": 2**37, "declared": True}
    assert plan.machines[machines["host"].hardware]["declared"] is False


def test_a_live_grid_runs_on_one_database(compile_text: Compile) -> None:
    text = BASE.replace(
        "benchmarks: [readwhilewriting]", "benchmarks: [readwhilewriting], for: {threads: [1, 2], keys: [1k, 2k]}"
    )
    plan = compile_text(text)
    steps = [step for step in plan.cells[0].steps if step.stage == 1]
    assert [step.name for step in steps] == [
        "readww[threads=1,keys=1k]", "readww[threads=1,keys=2k]",
        "readww[threads=2,keys=1k]", "readww[threads=2,keys=2k]",
    ]  # fmt: skip
    assert {step.step for step in steps} == {"readww"}
    assert steps[2].variables == {"threads": "2", "keys": "1k"}
    (stage,) = (stage for stage in plan.stages if stage.id == plan.cells[0].repeats[0].stages[1])
    assert [(step.settings["threads"], step.settings["keys"]) for step in stage.steps] == [
        (1, 1000), (1, 2000), (2, 1000), (2, 2000),
    ]  # fmt: skip
    assert len({step.seed for step in stage.steps}) == 4


def test_a_variable_of_a_live_grid_is_a_setting(complaints: Complaints) -> None:
    text = BASE.replace("benchmarks: [readwhilewriting]", "benchmarks: [readwhilewriting], for: {threds: [1, 2]}")
    assert "error[unknown-setting]: `threds` is no setting of db_bench" in complaints(text)


def test_times(compile_text: Compile) -> None:
    plan = compile_text(BASE.replace("benchmarks: [readwhilewriting]", "benchmarks: [readwhilewriting], times: 3"))
    assert [step.name for step in plan.cells[0].steps] == ["fillseq", "readww.1", "readww.2", "readww.3"]


def test_a_warm_up_runs_before_each_run_and_is_not_measured(compile_text: Compile) -> None:
    more = "benchmarks: [readwhilewriting], times: 2, warmup: 5s"
    probes = "probes: [{name: p, before: [readww], command: [ls]}]\n"
    plan = compile_text(BASE.replace("benchmarks: [readwhilewriting]", more) + probes)
    steps = [step for stage in plan.stages for step in stage.steps if step.name.startswith("readww")][:4]
    assert [step.name for step in steps] == ["readww.1.warmup", "readww.1", "readww.2.warmup", "readww.2"]
    assert [(step.measured, step.settings["duration"]) for step in steps] == [(False, 5), (True, 1)] * 2
    assert ["before" in step.setup for step in steps] == [False, True] * 2


def test_engines_without_sql_leave_its_probes_out(compile_text: Compile) -> None:
    both = SERVER.replace("builds: {", "builds: {db: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}, ")
    both = both.replace(
        "steps:", "steps:\n  - {name: fill, kind: db_bench, benchmarks: [fillseq], keys: 1, when: on_db}"
    )
    both = both.replace("on_db", "engine == 'rocksdb'").replace(
        "kind: sysbench", "when: engine == 'mariadb', kind: sysbench"
    )
    plan = compile_text(both + "probes: [{name: p, after: [fill, more], sql: select 1}]\n")
    found = {step.name: "after" in step.setup for stage in plan.stages for step in stage.steps}
    assert found == {"fill": False, "load": False, "point": False, "more": True}


def ids(plan: Plan) -> set[str]:
    return {stage.id for stage in plan.stages}


def test_what_a_step_runs_in_is_identity_where_it_is_said(compile_text: Compile) -> None:
    plain = compile_text(BASE)
    assert ids(compile_text(BASE + "launch: {}\n")) == ids(plain)
    for said in ("launch: {numa: interleave}", "launch: {env: {A: b}}", "start: cold", "share: false"):
        assert not ids(compile_text(BASE + said + "\n")) & ids(plain), said


def test_launch_by_point_over_the_spec(compile_text: Compile) -> None:
    axis = (
        "sweep: {a: {from: loaded, points: {x: {launch: {malloc: jemalloc}}, y: {launch: {cpus: 0-1}, start: cold}}}}\n"
    )
    plan = compile_text(BASE + "launch: {numa: interleave}\n" + axis)
    stages = {stage.id: stage for stage in plan.stages}
    setups = {c.labels["a"]: stages[c.repeats[0].stages[1]].steps[0].setup for c in plan.cells}
    assert setups == {
        "x": {"launch": {"numa": "interleave", "malloc": "jemalloc"}},
        "y": {"launch": {"numa": "interleave", "cpus": "0-1"}, "start": "cold"},
    }
    assert sum(stage.parent is None for stage in plan.stages) == 2, "the loads are shared"


def test_cells_that_share_nothing(compile_text: Compile) -> None:
    axis = "sweep: {a: {option: bloom_bits, values: [5, 6], from: loaded}}\n"
    assert sum(s.parent is None for s in compile_text(BASE + axis).stages) == 2
    assert sum(s.parent is None for s in compile_text(BASE + axis + "share: false\n").stages) == 4


def test_a_server_option_cannot_change_within_a_stage(complaints: Complaints, compile_text: Compile) -> None:
    text = SERVER + "sweep: {pool: {option: innodb_buffer_pool_size, values: [1GiB, 2GiB], %s}}\n"
    assert complaints(text % "steps: [more]").splitlines()[0] == (
        "a.yaml:9:24: error[needs-checkpoint]: `innodb_buffer_pool_size` differs between `point` and `more`, "
        "which share a server"
    )
    assert len(compile_text(text % "from: loaded").stages) == 3


def test_the_storage_engine_is_a_param_or_the_engines_default(compile_text: Compile) -> None:
    text = SERVER + "options: [{engine: mariadb, when: \"storage_engine == 'rocksdb'\", options: {rocksdb_x: 1}}]\n"
    plain, rocks = compile_text(text), compile_text(text + "params: {storage_engine: rocksdb}\n")
    assert {step.setup["storage_engine"] for stage in plain.stages for step in stage.steps} == {"innodb"}
    assert all("rocksdb_x" not in step.options for stage in plain.stages for step in stage.steps)
    assert all("rocksdb_x" in step.options for stage in rocks.stages for step in stage.steps)
    assert not ids(plain) & ids(rocks)


def test_probes(compile_text: Compile, complaints: Complaints) -> None:
    probe = "probes: [{name: min_id, before: [%s], sql: select 1}]\n"
    plan = compile_text(SERVER + probe % "more")
    (step,) = (s for stage in plan.stages for s in stage.steps if s.name == "more")
    assert step.setup["before"] == [{"name": "min_id", "sql": "select 1"}]
    assert "error[undefined-name]: probe `min_id`: there is no step `mroe`" in complaints(SERVER + probe % "mroe")
    wrong = "probes: [{name: p, before: [more]}]\n"
    assert "error[probe-form]: probe `p` needs `sql` or `command`, one of them" in complaints(SERVER + wrong)


SWEEP = "sweep: {cache: {from: loaded, points: {lru: {options: {a: 1}}, hyper: {options: {a: 2}}}}}\n"


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("qsp(cache='lru') > 1", "there is no metric `qsp`"),
        ("qps(cach='lru') > 1", "there is no axis `cach`"),
        ("qps(cache='lrru') > 1", "axis `cache` has no cell at `lrru`"),
        ("qps('lru') > 1", "the arguments of a figure have names"),
        ("qps > 1", "`qps` is not a figure"),
        ("qps(cache='lru') >", "`qps(cache='lru') >` is not an expression"),
    ],
)
def test_faults_of_claims(complaints: Complaints, claim: str, said: str) -> None:
    text = f'claims: [{{claim: c, expect: "{claim}", where: {{step: readww}}}}]\n'
    assert said in complaints(BASE + SWEEP + text)


def test_claims_and_tables_are_in_the_plan(compile_text: Compile, complaints: Complaints) -> None:
    report = "report: {base: {cache: lru}, tables: [{title: x, rows: %s, columns: build, where: {step: readww}}]}\n"
    claims = "claims: [{claim: c, expect: \"qps(cache='hyper', build='rocksdb') > 0.5 * qps(cache='lru')\"}]\n"
    plan = compile_text(BASE + SWEEP + report % "cache" + claims)
    assert plan.report.tables[0]["rows"] == ["cache"]
    assert plan.report.claims[0]["claim"] == "c"
    assert "a table has no axis `cahce` to show" in complaints(BASE + SWEEP + report % "cahce")


def narrowed(tmp_path: Path, only: str | None = None, sets: tuple[str, ...] = ()) -> Plan:
    (tmp_path / "a.yaml").write_text(BASE + SWEEP)
    return compile_spec(str(tmp_path / "a.yaml"), None, HOST, only=only, sets=sets)


def test_only(tmp_path: Path) -> None:
    whole, some = narrowed(tmp_path), narrowed(tmp_path, "cache == 'lru' and build == 'rocksdb-7.8.3'")
    assert len(some.cells) == 1
    assert ids(some) < ids(whole)
    with pytest.raises(SpecError) as caught:
        narrowed(tmp_path, "cach == 'lru'")
    assert str(caught.value.problems[0].where) == "--only:1:1"
    with pytest.raises(SpecError) as caught:
        narrowed(tmp_path, "cache == 'lrru'")
    said = "--only:1:1: error[empty-grid]: no cell is left\n   = `--only` holds for none of them"
    assert render.text(caught.value.problems) == said


def test_set(tmp_path: Path) -> None:
    plan = narrowed(tmp_path, sets=("params.keys=2k", "repeat=2", "sweep.cache.points.lru=null"))
    assert {step.settings["keys"] for stage in plan.stages for step in stage.steps} == {2000}
    assert (len(plan.cells), len(plan.cells[0].repeats)) == (2, 2)
    for wrong, said in (("params.kes=1", "no step takes the param `kes`"), ("params", "`params` is not PATH=VALUE")):
        with pytest.raises(SpecError) as caught:
            narrowed(tmp_path, sets=(wrong,))
        assert said in render.text(caught.value.problems)


def test_set_adds_an_option_over_the_others(tmp_path: Path) -> None:
    more = ("options=[{c: 1, b: 1}]", "options.b=2", "sweep.cache.points.lru.options.d=3")
    plan = narrowed(tmp_path, "cache == 'lru'", more)
    last = next(step.options for stage in plan.stages for step in stage.steps if step.name == "readww")
    assert {name: last[name].value for name in last} == {"a": 1, "b": 2, "c": 1, "d": 3}


@pytest.mark.parametrize(("path", "listed"), [("steps.1", "steps"), ("sweep.n.values.0", "sweep.n.values")])
def test_set_of_a_part_of_a_list(tmp_path: Path, path: str, listed: str) -> None:
    with pytest.raises(SpecError) as caught:
        narrowed(tmp_path, sets=("sweep.n={option: n, values: [1, 2]}", f"{path}=readww"))
    assert render.text(caught.value.problems) == (
        f"--set:2:1: error[set-form]: `{listed}` is a list, which is set as a whole\n   = for example: {listed}=[…]"
    )
