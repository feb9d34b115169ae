"""Setup of steps: machine, launch, server, probes, services, and files."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from stepgrid.expand.setup import LARGEST
from stepgrid.language.files import record_inputs
from stepgrid.model.plan import Plan, PlannedStep
from stepgrid.plan import plan_file
from stepgrid.store import plans
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


def test_what_a_step_has_of_it(compile_text: Compile) -> None:
    (stage, *_) = compile_text(SERVICE).stages
    argv = ["{program:kv}", "--port", "{port}", "--dir", "{data}", "--threads", "1", "{options}"]
    assert stage.steps[0].setup == {
        "service": {
            "argv": argv,
            "option": ["--{name}", "{value}"],
            "env": {"LOG": "{folder}/log"},
            "ready": {"command": ["{program:cli}", "{port}", "ping"], "timeout": 5.0},
            "stop": {"signal": "SIGINT", "timeout": 7.0},
        }
    }


def test_a_param_of_an_axis_reaches_it(compile_text: Compile) -> None:
    plan = compile_text(SERVICE + "sweep: {io: {param: io, values: [1, 2], from: loaded}}\n")
    stages = {stage.id: stage for stage in plan.stages}
    words = {
        cell.labels["io"]: stages[cell.repeats[0].stages[1]].steps[0].setup["service"]["argv"][6]  # type: ignore[index,call-overload]
        for cell in plan.cells
    }
    assert words == {"1": "1", "2": "2"}
    assert sum(stage.parent is None for stage in plan.stages) == 1, "what comes before is as it was"


def test_all_but_its_timeouts_is_identity(compile_text: Compile) -> None:
    plain = ids(compile_text(SERVICE))
    for old, new in (("5s", "6s"), ("7s", "8s"), (", timeout: 5s", ""), ("title: t", "title: u")):
        assert ids(compile_text(SERVICE.replace(old, new))) == plain, new
    for old, new in (
        ("--dir", "--folder"), ("{folder}/log", "none"), ("ping", "hello"), ("SIGINT", "SIGTERM"), ('"{value}"', "x"),
    ):  # fmt: skip
        assert not ids(compile_text(SERVICE.replace(old, new))) & plain, new


def test_the_build_s_id_has_nothing_of_it(compile_text: Compile) -> None:
    one, other = (compile_text(text).builds[0].id for text in (SERVICE, SERVICE.replace("--dir", "--folder")))
    assert one == other


def _messages(text: str) -> list[str]:
    """Of each problem the message and the hint, without the excerpt."""
    return [line.partition("= ")[2] or line for line in text.splitlines() if "a.yaml:" in line or "   = " in line]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            '"{data}"',
            '"{dat}"',
            [
                "a.yaml:8:55: error[unknown-placeholder]: build `kv`: service `argv` has no placeholder `{dat}`",
                "did you mean `{data}`? known here: {data} {folder} {host} {port} {socket} {sockets} {options} "
                "{program:NAME}; `{ … }` with a space inside is left as it is",
            ],
        ),
        (
            "{folder}/log",
            "{seed}",
            [
                "a.yaml:10:18: error[unknown-placeholder]: build `kv`: service `env` has no placeholder `{seed}`",
                "known here: {data} {folder} {host} {port} {socket} {sockets}; `{ … }` with a space inside is left "
                "as it is",
            ],
        ),
        (
            '"{options}"]',
            '"-o{options}"]',
            [
                "a.yaml:8:95: error[wrong-setting]: build `kv`: service `argv`: `{options}` stands for several words: "
                "give it as a word of its own"
            ],
        ),
        ("ready:", "redy:", ["a.yaml:11:7: error[unknown-key]: `redy` is not a key here", "did you mean `ready`?"]),
        (
            "ready: {",
            'ready: {port: "{port}", ',
            ["a.yaml:11:14: error[not-both]: `ready`: it has both `port` and `command`: keep one"],
        ),
        (
            'command: ["{program:cli}", "{port}", ping], ',
            "",
            ["a.yaml:11:14: error[out-of-range]: `ready`: needs `port`, `socket` or `command`, found a map"],
        ),
        (
            'command: ["{program:cli}", "{port}", ping]',
            "port: http",
            [
                "a.yaml:11:21: error[wrong-setting]: build `kv`: service `ready.port`: expected `{port}` or "
                "1 to 65535, found `http`"
            ],
        ),
        (
            "SIGINT",
            "SIGNIT",
            [
                "a.yaml:12:22: error[not-a-choice]: `signal`: expected `SIGTERM`, `SIGINT`, `SIGQUIT`, `SIGHUP`, "
                "`SIGUSR1` or `SIGUSR2`, found `SIGNIT`"
            ],
        ),
        (
            '"{port}", scan]',
            '"{port}", scan], options: {threads: 2}',
            [
                "a.yaml:17:74: error[needs-checkpoint]: `threads` differs between `get` and `scan`, which share a "
                "server",
                "a change needs a restart: put `{checkpoint: NAME}` before `scan`",
            ],
        ),
        (
            "params: {io: 1}",
            "params: {io: 1}\nsweep: {io: {param: io, values: [1, 2], steps: [scan]}}",
            [
                "a.yaml:8:14: error[needs-checkpoint]: `argv` of the service differs between `get` and `scan`, which "
                "share it",
                "a change needs a restart: put `{checkpoint: NAME}` before `scan`",
            ],
        ),
        (
            "engine: program",
            "engine: mariadb",
            [
                "a.yaml:8:14: error[wrong-source]: build `kv`: `service` is for the engine `program`, found `mariadb`",
                "mariadb is started by stepgrid itself",
            ],
        ),
    ],
)
def test_faults_of_a_service(old: str, new: str, expected: list[str], complaints: Complaints) -> None:
    assert _messages(complaints(SERVICE.replace(old, new))) == expected


def test_an_option_that_does_not_reach_it(complaints: Complaints, compile_text: Compile) -> None:
    given = "options: [{io-threads: 2, save: 1}]\n"
    alone = SERVICE.replace(', "{options}"]', "]") + given
    assert _messages(complaints(alone)) == [
        "a.yaml:19:12: error[unused-option]: the option `io-threads` does not reach the service of build `kv`",
        "add `\"{options}\"` to its `argv`, or a word with `{{ options['io-threads'] }}`",
        "a.yaml:19:27: error[unused-option]: the option `save` does not reach the service of build `kv`",
        "add `\"{options}\"` to its `argv`, or a word with `{{ options['save'] }}`",
    ]
    asked = alone.replace("--dir,", '"{{ options[\'io-threads\'] }}", "{{ options.save }}", --dir,')
    assert compile_text(asked).stages[0].steps[0].setup["service"]["argv"][3:5] == ["2", "1"]  # type: ignore[index,call-overload]
    assert compile_text(SERVICE + given).cells


def test_versions_and_heirs(compile_text: Compile) -> None:
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
    found = {names[stage.build]: stage.steps[0].setup["service"] for stage in plan.stages}
    assert {name: said["argv"] for name, said in found.items()} == {  # type: ignore[index,call-overload]
        "kv-1.0": ["kv", "{options}"],
        "kv-2.0": ["kv", "--new", "{options}"],
        "heir": ["other"],
    }
    assert found["heir"] == {"argv": ["other"], "ready": {"port": "7"}}


# Files that a step needs: read while the spec is planned, part of what a stage is, written once into the plan


FILE_SPEC = """\
title: t
builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {system: sysbench}}}}
params: {rows: 10, duration: 1s, lua: mine.lua}
steps: [{name: point, kind: sysbench}]
"""
SCRIPT = "function event() end -- ä\n"


def _step(plan: Plan) -> PlannedStep:
    return plan.stages[0].steps[0]


def test_a_file_of_the_specs_own(compile_text: Compile, tmp_path: Path) -> None:
    (tmp_path / "mine.lua").write_text(SCRIPT, encoding="utf-8")
    with record_inputs() as seen:
        step = _step(compile_text(FILE_SPEC))
    assert step.files["mine.lua"] == SCRIPT
    assert step.setup["files"] == {name: sha256(text.encode()).hexdigest() for name, text in step.files.items()}
    assert "mine.lua" in seen.files


def test_its_content_is_identity(compile_text: Compile, tmp_path: Path) -> None:
    found = []
    for text in (SCRIPT, SCRIPT, SCRIPT + " "):
        (tmp_path / "mine.lua").write_text(text, encoding="utf-8")
        found.append(compile_text(FILE_SPEC).stages[0].id)
    assert found[0] == found[1] != found[2]


def test_it_is_meant_from_the_file_that_names_it(compile_text: Compile, tmp_path: Path) -> None:
    folder = tmp_path / "below"
    folder.mkdir()
    (folder / "mine.lua").write_text(SCRIPT, encoding="utf-8")
    library = "define: {workloads: {w: [{name: point, kind: sysbench, lua: mine.lua, rows: 10, duration: 1s}]}}\n"
    (folder / "w.yaml").write_text(library, encoding="utf-8")
    spec = "".join(FILE_SPEC.splitlines(keepends=True)[:3]) + "include: below/w.yaml\nworkload: w\n"
    assert _step(compile_text(spec)).files["mine.lua"] == SCRIPT


def test_a_plan_has_each_text_once(compile_text: Compile, tmp_path: Path) -> None:
    (tmp_path / "mine.lua").write_text(SCRIPT, encoding="utf-8")
    plan = compile_text(FILE_SPEC + "sweep: {threads: [1, 2, 4, 8]}\n")
    plans.write(plan, tmp_path / "plan")
    assert (tmp_path / "plan" / "stages.jsonl").read_text(encoding="utf-8").count("function event() end") == 1
    kept = [plan_file.stage(tmp_path / "plan", stage.id).steps[0].files["mine.lua"] for stage in plan.stages]
    assert kept == [SCRIPT] * 4


@pytest.mark.parametrize(
    ("content", "code", "message", "hint"),
    [
        (None, "file-not-found", "there is no file `mine.lua`", ""),
        (b"a\xff", "not-utf8", "`mine.lua` is not UTF-8 text: byte 0xff", "\n   = save the file as UTF-8"),
        (
            b"-" * (LARGEST + 1), "too-large", "the file `mine.lua` is larger than 1 MiB",
            "\n   = its text is part of every plan",
        ),
    ],
)  # fmt: skip
def test_faults_of_files(
    complaints: Complaints, tmp_path: Path, content: bytes | None, code: str, message: str, hint: str
) -> None:
    if content is not None:
        (tmp_path / "mine.lua").write_bytes(content)
    place = (
        "   4 | params: {rows: 10, duration: 1s, lua: mine.lua}\n     |                                       ^^^^^^^^"
    )
    assert complaints(FILE_SPEC) == f"a.yaml:4:39: error[{code}]: {message}\n{place}{hint}"


def test_a_folder_is_no_file(complaints: Complaints, tmp_path: Path) -> None:
    (tmp_path / "mine.lua").mkdir()
    assert "error[file-not-found]: there is no file `mine.lua`" in complaints(FILE_SPEC)
