"""What a step runs in: its machine, launch, server, storage engine and probes."""

from __future__ import annotations

from tests.expand.samples import BASE, SERVER, Compile, Complaints, ids


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


def test_steps_of_a_probe_by_pattern(compile_text: Compile, complaints: Complaints) -> None:
    plan = compile_text(SERVER + "probes: [{name: p, before: '*o*', sql: select 1}]\n")
    found = {step.name: "before" in step.setup for stage in plan.stages for step in stage.steps}
    assert found == {"load": True, "point": True, "more": True}
    plan = compile_text(SERVER + "probes: [{name: p, before: 'po*', sql: select 1}]\n")
    assert [s.name for stage in plan.stages for s in stage.steps if "before" in s.setup] == ["point"]
    twice = "probes: [{name: p, before: 'po*', sql: select 1}, {name: p, after: [point], sql: select 2}]\n"
    assert "error[defined-twice]: step `point` has the probe `p` already" in complaints(SERVER + twice)
    none = "probes: [{name: p, before: 'q*', sql: select 1}]\n"
    assert "error[undefined-name]: probe `p`: there is no step `q*`" in complaints(SERVER + none)


def test_counters_of_a_probe_are_one_or_several(compile_text: Compile) -> None:
    """A single one has the identity that it always had."""
    probe = "probes: [{name: p, before: [more], sql: select 1, counters: %s}]\n"
    plans = [compile_text(SERVER + probe % said) for said in ("Handler_*", "[Handler_*]", "[Handler_*, pg_stat_io]")]
    setups = [s.setup["before"] for plan in plans for stage in plan.stages for s in stage.steps if s.name == "more"]
    assert [setup[0]["counters"] for setup in setups] == ["Handler_*", "Handler_*", ["Handler_*", "pg_stat_io"]]
    assert ids(plans[0]) == ids(plans[1]) != ids(plans[2])


def test_probes(compile_text: Compile, complaints: Complaints) -> None:
    probe = "probes: [{name: min_id, before: [%s], sql: select 1}]\n"
    plan = compile_text(SERVER + probe % "more")
    (step,) = (s for stage in plan.stages for s in stage.steps if s.name == "more")
    assert step.setup["before"] == [{"name": "min_id", "sql": "select 1"}]
    assert "error[undefined-name]: probe `min_id`: there is no step `mroe`" in complaints(SERVER + probe % "mroe")
    wrong = "probes: [{name: p, before: [more]}]\n"
    assert "error[probe-form]: probe `p` needs `sql` or `command`, one of them" in complaints(SERVER + wrong)
