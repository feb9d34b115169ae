"""Setup of steps: machine, launch, server, probes, services, and files."""

from hashlib import sha256

from stepgrid.language.files import record_inputs
from tests.expand.samples import BASE, SERVER, ids


def test_a_machine_of_each_point(compile_text):
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


def test_launch_by_point_over_the_spec(compile_text):
    axis = (
        "sweep: {a: {from: loaded, points: {x: {launch: {malloc: jemalloc}}, y: {launch: {cpus: 0-1}, start: cold}}}}\n"
    )
    plan = compile_text(BASE + "launch: {numa: interleave}\n" + axis)
    stages = {stage.id: stage for stage in plan.stages}
    setups = {c.labels["a"]: stages[c.repeats[0].stages[1]].steps[0].setup for c in plan.cells}
    assert {name: setup.to_json() for name, setup in setups.items()} == {
        "x": {"launch": {"numa": "interleave", "malloc": "jemalloc"}},
        "y": {"launch": {"numa": "interleave", "cpus": "0-1"}, "start": "cold"},
    }
    assert sum(stage.parent is None for stage in plan.stages) == 2, "the loads are shared"


def test_cells_that_share_nothing(compile_text):
    axis = "sweep: {a: {option: bloom_bits, values: [5, 6], from: loaded}}\n"
    assert sum(s.parent is None for s in compile_text(BASE + axis).stages) == 2
    assert sum(s.parent is None for s in compile_text(BASE + axis + "share: false\n").stages) == 4


def test_the_storage_engine_is_a_param_or_the_engines_default(compile_text):
    text = SERVER + "options: [{engine: mariadb, when: \"storage_engine == 'rocksdb'\", options: {rocksdb_x: 1}}]\n"
    plain, rocks = compile_text(text), compile_text(text + "params: {storage_engine: rocksdb}\n")
    assert {step.setup.storage_engine for stage in plain.stages for step in stage.steps} == {"innodb"}
    assert all("rocksdb_x" not in step.options for stage in plain.stages for step in stage.steps)
    assert all("rocksdb_x" in step.options for stage in rocks.stages for step in stage.steps)
    assert not ids(plain) & ids(rocks)


def test_engines_without_sql_leave_its_probes_out(compile_text):
    both = SERVER.replace("builds: {", "builds: {db: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}, ")
    both = both.replace(
        "steps:", "steps:\n  - {name: fill, kind: db_bench, benchmarks: [fillseq], keys: 1, when: on_db}"
    )
    both = both.replace("on_db", "engine == 'rocksdb'").replace(
        "kind: sysbench", "when: engine == 'mariadb', kind: sysbench"
    )
    plan = compile_text(both + "probes: [{name: p, after: [fill, more], sql: select 1}]\n")
    found = {step.name: bool(step.setup.after) for stage in plan.stages for step in stage.steps}
    assert found == {"fill": False, "load": False, "point": False, "more": True}


def test_steps_of_a_probe_by_pattern(compile_text, complaints):
    plan = compile_text(SERVER + "probes: [{name: p, before: '*o*', sql: select 1}]\n")
    found = {step.name: bool(step.setup.before) for stage in plan.stages for step in stage.steps}
    assert found == {"load": True, "point": True, "more": True}
    plan = compile_text(SERVER + "probes: [{name: p, before: 'po*', sql: select 1}]\n")
    assert [s.name for stage in plan.stages for s in stage.steps if s.setup.before] == ["point"]
    twice = "probes: [{name: p, before: 'po*', sql: select 1}, {name: p, after: [point], sql: select 2}]\n"
    assert "error[defined-twice]: step `point` has the probe `p` already" in complaints(SERVER + twice)
    none = "probes: [{name: p, before: 'q*', sql: select 1}]\n"
    assert "error[undefined-name]: probe `p`: there is no step `q*`" in complaints(SERVER + none)


# The `service` of a build: what cells have of it, what of it is identity, and what is wrong with it


SERVICE = """\
title: t
builds:
  kv:
    engine: program
    version: "1.0"
    source: {system: kv}
    service:
      argv: ["{program:kv}", --port, "{port}", --dir, "{data}", --threads, "{{ params.io }}", "{options}"]
      option: ["--{name}", "{value}"]
      env: {LOG: "{folder}/log"}
      ready: {command: ["{program:cli}", "{port}", ping], timeout: 5s}
      stop: {signal: SIGINT, timeout: 7s}
steps:
  - {name: load, kind: command, mutates: true, argv: [bench, "{port}", load]}
  - checkpoint: loaded
  - {name: get, kind: command, argv: [bench, "{host}:{port}", "{socket}", get]}
  - {name: scan, kind: command, argv: [bench, "{port}", scan]}
params: {io: 1}
"""


def test_what_a_step_has_of_it(compile_text):
    (stage, *_) = compile_text(SERVICE).stages
    argv = ["{program:kv}", "--port", "{port}", "--dir", "{data}", "--threads", "1", "{options}"]
    assert stage.steps[0].setup.to_json() == {
        "service": {
            "argv": argv,
            "option": ["--{name}", "{value}"],
            "env": {"LOG": "{folder}/log"},
            "ready": {"command": ["{program:cli}", "{port}", "ping"], "timeout": 5.0},
            "stop": {"signal": "SIGINT", "timeout": 7.0},
        }
    }


def test_a_param_of_an_axis_reaches_it(compile_text):
    plan = compile_text(SERVICE + "sweep: {io: {param: io, values: [1, 2], from: loaded}}\n")
    stages = {stage.id: stage for stage in plan.stages}
    words = {cell.labels["io"]: stages[cell.repeats[0].stages[1]].steps[0].setup.service.argv[6] for cell in plan.cells}
    assert words == {"1": "1", "2": "2"}
    assert sum(stage.parent is None for stage in plan.stages) == 1, "what comes before is as it was"


def test_versions_and_heirs(compile_text):
    """The nearest counts as a whole; its words may depend on the version."""
    words = """[kv, {when: "version >= '2'", value: --new}, "{options}"]"""
    family = SERVICE.replace('version: "1.0"', "versions: [1.0, 2.0]").replace(
        '["{program:kv}", --port, "{port}", --dir, "{data}", --threads, "{{ params.io }}", "{options}"]', words
    )
    heir = family.replace("params: {io: 1}\n", "").replace(
        "steps:", "  heir: {extends: kv, version: '3.0', service: {argv: [other], ready: {port: '7'}}}\nsteps:"
    )
    plan = compile_text(heir)
    names = {build.id: build.name for build in plan.builds}
    found = {names[stage.build]: stage.steps[0].setup.service for stage in plan.stages}
    assert {name: [*said.argv] for name, said in found.items()} == {
        "kv-1.0": ["kv", "{options}"],
        "kv-2.0": ["kv", "--new", "{options}"],
        "heir": ["other"],
    }
    assert found["heir"].to_json() == {"argv": ["other"], "ready": {"port": "7"}}


# Files that a step needs: read while the spec is planned, part of what a stage is, written once into the plan


FILE_SPEC = """\
title: t
builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {system: sysbench}}}}
params: {rows: 10, duration: 1s, lua: mine.lua}
steps: [{name: point, kind: sysbench}]
"""
SCRIPT = "function event() end -- ä\n"


def _step(plan):
    return plan.stages[0].steps[0]


def test_a_file_of_the_specs_own(compile_text, tmp_path):
    (tmp_path / "mine.lua").write_text(SCRIPT, encoding="utf-8")
    with record_inputs() as seen:
        step = _step(compile_text(FILE_SPEC))
    assert step.files["mine.lua"] == SCRIPT
    assert step.setup.files == {name: sha256(text.encode()).hexdigest() for name, text in step.files.items()}
    assert "mine.lua" in seen.files


def test_it_is_meant_from_the_file_that_names_it(compile_text, tmp_path):
    folder = tmp_path / "below"
    folder.mkdir()
    (folder / "mine.lua").write_text(SCRIPT, encoding="utf-8")
    library = "define: {workloads: {w: [{name: point, kind: sysbench, lua: mine.lua, rows: 10, duration: 1s}]}}\n"
    (folder / "w.yaml").write_text(library, encoding="utf-8")
    spec = "".join(FILE_SPEC.splitlines(keepends=True)[:3]) + "include: below/w.yaml\nworkload: w\n"
    assert _step(compile_text(spec)).files["mine.lua"] == SCRIPT
