"""Inputs that differ between two stages: builds, steps, setups; and values as a spec writes them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.plan import Plan
from stepgrid.plan import difference
from stepgrid.plan.difference import UNSET, Input, Link, differences, input_text, setup_fields, value_text, yaml_text
from stepgrid.summarize.comparisons import builds
from stepgrid.summarize.setup import _setting
from tests.conftest import Compile
from tests.expand.test_setup import SERVICE

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 7.8.3, source: {debian: rocksdb-tools, suite: sid}}}
options: [{cache_size: 1GiB, bloom_bits: 10}]
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 1m}
params: {keys: 200k}
"""
PROBES = """\
probes:
  - {name: size, before: [readww], command: [du, "{data}"]}
  - {name: files, after: [readww], command: [ls, "{data}"]}
params:"""
COLLECTORS = "collectors: [{collector: perf_stat, events: [cycles]}, pidstat]\nparams:"


def chain(plan: Plan) -> list[Link]:
    stages = {stage.id: stage for stage in plan.stages}
    builds = {build.id: build for build in plan.builds}
    return [Link.of(stages[node], builds.__getitem__) for node in plan.cells[0].repeats[0].stages]


def between(compile_text: Compile, *edits: tuple[str, str]) -> tuple[Input, ...]:
    new = SPEC
    for old_text, new_text in edits:
        assert old_text in new
        new = new.replace(old_text, new_text)
    return differences(chain(compile_text(SPEC)), chain(compile_text(new)))


def named(inputs: tuple[Input, ...]) -> list[tuple[str, Any, Any]]:
    return [(entry.field, entry.old, entry.new) for entry in inputs]


def test_an_option_of_many_steps_is_said_once_with_its_place(compile_text: Compile) -> None:
    assert between(compile_text, ("1GiB", "2GiB")) == (Input("options.cache_size", 2**30, 2**31, "a.yaml:3:12"),)


MORE = "  - {name: again, kind: db_bench, benchmarks: [readrandom], duration: 1m}\nparams"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("title: t", "title: u", []),
        ("bloom_bits: 10", "bloom_bits: 10, open_files: 5", [("options.open_files", UNSET, 5)]),
        (", bloom_bits: 10", "", [("options.bloom_bits", 10, UNSET)]),
        ("bloom_bits: 10", "bloom_bits: 10.0", [("options.bloom_bits", 10, 10.0)]),
        (
            "bloom_bits: 10",
            "bloom_bits: {value: 10, when_unsupported: drop}",
            [("options.bloom_bits.when_unsupported", "error", "drop")],
        ),
        ("200k", "300k", [("params.keys", 200000, 300000)]),
        ("duration: 1m", "duration: 2m", [("params.duration", 60.0, 120.0)]),
        ("7.8.3", "9.10.0", [("build.version", "7.8.3", "9.10.0")]),
        ("suite: sid", "suite: trixie", [("build.source.suite", "sid", "trixie")]),
        ("params", MORE, [("steps", ["readww"], ["readww", "again"])]),
        (
            "  - checkpoint: loaded\n",
            "",
            [("steps", ["fillseq"], ["fillseq", "readww"]), ("checkpoints before it", 1, 0)],
        ),
        (
            "params:",
            "launch: {numa: interleave, env: {A: '1'}}\nparams:",
            [("launch.env.A", UNSET, "1"), ("launch.numa", UNSET, "interleave")],
        ),
        ("params:", "start: cold\nparams:", [("start", UNSET, "cold")]),
        (
            "params:",
            "sweep: {place: {points: {one: {launch: {cpus: '0'}}}}}\nparams:",
            [("launch.cpus", UNSET, "0")],
        ),
    ],
)
def test_an_edit_and_the_inputs_that_it_changes(
    compile_text: Compile, old: str, new: str, expected: list[tuple[str, Any, Any]]
) -> None:
    inputs = named(between(compile_text, (old, new)))
    assert inputs == expected
    assert [[type(value) for value in entry] for entry in inputs] == [[type(value) for value in e] for e in expected]


def test_a_configuration_of_ours_that_changed_what_is_measured(compile_text: Compile) -> None:
    """InnoDB warms itself no longer: earlier results are another measurement, and the plan says why."""
    spec = """
title: t
builds: {m: {engine: mysql, version: 8.0.31, source: {system: mysqld}, params: {storage_engine: innodb}}}
steps: [{name: q, kind: sql, sql: ["select 1"]}]
"""
    stages = {name: chain(compile_text(spec.replace("innodb", name)))[0] for name in ("innodb", "rocksdb")}
    setup = stages["innodb"].stage.steps[0].setup
    assert setup == {"storage_engine": "innodb", "storage_revision": 1}
    assert stages["rocksdb"].stage.steps[0].setup == {"storage_engine": "rocksdb"}
    before = replace(stages["innodb"].stage.steps[0], setup={"storage_engine": "innodb"})
    old = replace(stages["innodb"], stage=replace(stages["innodb"].stage, steps=(before,)))
    assert named(differences([old], [stages["innodb"]])) == [("revision of innodb", UNSET, 1)]
    running = compile_text(spec.replace("{system: mysqld}", "{server: prod}"))
    assert chain(running)[0].stage.steps[0].setup == {"storage_engine": "innodb"}


def test_a_source_within_the_source(compile_text: Compile) -> None:
    jar = "source: {maven: 'a:b:1', tree: {git: 'https://host.example/a.git', ref: v%d}}"
    debian = "source: {debian: rocksdb-tools, suite: sid}"
    old, new = (chain(compile_text(SPEC.replace(debian, jar % number))) for number in (1, 2))
    assert named(differences(old, new)) == [("build.source.tree.ref", "v1", "v2")]


def test_a_seed_and_a_revision_count(compile_text: Compile) -> None:
    seeds = between(compile_text, ("params:", "seed: 2\nparams:"))
    assert [entry.field for entry in seeds] == ["fillseq: seed", "readww: seed"]
    old = chain(compile_text(SPEC))
    step = replace(old[0].stage.steps[0], revision=7)
    new = [Link(replace(old[0].stage, steps=(step,)), old[0].build), old[1]]
    assert named(differences(old, new)) == [("revision of db_bench", old[0].stage.steps[0].revision, 7)]


def test_a_binary_that_changed_under_the_same_name(compile_text: Compile) -> None:
    old = chain(compile_text(SPEC))
    new = [Link(link.stage, replace(link.build, id="b-other")) for link in old]
    assert named(differences(old, new)) == [("build", old[0].build.id, "b-other")]


def test_a_client_is_told_by_what_it_is_made_of(compile_text: Compile) -> None:
    text = """\
title: t
builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
define:
  builds:
    one: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}
    two: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: trixie}}
steps: [{name: point, kind: sysbench, lua: point_query, duration: 1s, rows: 10, client: %s}]
"""
    old, new = (chain(compile_text(text % name)) for name in ("one", "two"))
    assert differences(old, new) == (Input("client.source.suite", "bookworm", "trixie", "a.yaml:6:5"),)
    without = [Link(replace(old[0].stage, steps=(replace(old[0].stage.steps[0], setup={}),)), old[0].build)]
    assert ("client", UNSET, "two") in named(differences(without, new))


def test_a_file_is_told_by_its_checksum(compile_text: Compile) -> None:
    old = chain(compile_text(SPEC))
    steps = [replace(old[0].stage.steps[0], setup={"files": {"a.lua": digit * 64}}) for digit in "12"]
    before, after = ([Link(replace(old[0].stage, steps=(step,)), old[0].build)] for step in steps)
    assert named(differences(before, after)) == [("files.a.lua", "1" * 12, "2" * 12)]


# Setups


def test_probes(compile_text: Compile) -> None:
    inputs = named(between(compile_text, ("params:", PROBES)))
    assert [field for field, *_ in inputs if field.startswith("files.")] == ["files.du", "files.ls"]  # their programs
    assert [entry for entry in inputs if not entry[0].startswith("files.")] == [
        ("probes.files.command", UNSET, ["ls", "{data}"]),
        ("probes.files.when", UNSET, "after"),
        ("probes.size.command", UNSET, ["du", "{data}"]),
        ("probes.size.when", UNSET, "before"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[du,", "[du, -s,", [("probes.size.command", ["du", "{data}"], ["du", "-s", "{data}"])]),
        ("before: [readww]", "after: [readww]", [("probes.size.when", "before", "after")]),
        ("events: [cycles]", "events: [instructions]", [("collectors.perf_stat.events", ["cycles"], ["instructions"])]),
    ],
)
def test_a_probe_or_collector_that_changed(compile_text: Compile, old: str, new: str, expected: object) -> None:
    text = SPEC.replace("params:", PROBES).replace("params:", COLLECTORS)
    before, after = (chain(compile_text(edited))[1:] for edited in (text, text.replace(old, new)))
    assert named(differences(before, after)) == expected


def test_the_order_of_probes(compile_text: Compile) -> None:
    old = chain(compile_text(SPEC.replace("params:", PROBES.replace("after", "before"))))[1:]
    step = old[0].stage.steps[0]
    turned = replace(step, setup={**step.setup, "before": list(reversed(step.setup["before"]))})  # type: ignore[arg-type]
    new = [replace(old[0], stage=replace(old[0].stage, steps=(turned,)))]
    assert named(differences(old, new)) == [("probes", ["size", "files"], ["files", "size"])]


def test_a_service_without_its_timeouts(compile_text: Compile, tmp_path: Path) -> None:
    text = SERVICE.replace("[bench, ", "[./bench.sh, ")
    (tmp_path / "bench.sh").touch()
    old, waits = compile_text(text), compile_text(text.replace("timeout: 5s", "timeout: 6s"))
    new = compile_text(text.replace("SIGINT", "SIGTERM").replace("timeout: 5s", "timeout: 6s"))
    assert named(differences(chain(old), chain(new))) == [("service.stop.signal", "SIGINT", "SIGTERM")]
    assert [stage.id for stage in waits.stages] == [stage.id for stage in old.stages]
    assert sorted(setup_fields(compile_text(SERVICE).stages[0].steps[0])) == [
        "service.argv",
        "service.env.LOG",
        "service.option",
        "service.ready.command",
        "service.stop.signal",
    ]


def test_the_storage_engine_of_a_kind_without_that_setting(compile_text: Compile) -> None:
    step = chain(compile_text(SPEC))[0].stage.steps[0]
    assert setup_fields(replace(step, setup={"storage_engine": "rocksdb"})) == {"params.storage_engine": "rocksdb"}
    settings = {**step.settings, "storage_engine": "rocksdb"}
    assert setup_fields(replace(step, settings=settings, setup={"storage_engine": "rocksdb"})) == {}


# Values


def test_an_input_as_a_line() -> None:
    assert input_text(Input("options.cache_size", 8 << 20, 16 << 20)) == "options.cache_size: 8 MiB -> 16 MiB"
    assert input_text(Input("params.flags", UNSET, [1, True, None])) == "params.flags: not set -> [1, true, null]"


@pytest.mark.parametrize(
    ("name", "text"),
    [("period_micros", "62914560"), ("compaction_sequential_deletes_window", "62914560"), ("size", "60 MiB")],
)
def test_what_is_no_size_has_no_unit_of_one(name: str, text: str) -> None:
    """delete_obsolete_files_period_micros of the published scripts is 60 times 2^20."""
    assert value_text(60 * 2**20, difference.may_be_size(f"options.{name}")) == text


WORDS = st.from_regex(r"[a-z]{1,5}( [a-z]{1,5})?", fullmatch=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_no_value_is_shown_as_python_has_it(setting: Any) -> None:
    """In the reasons of a plan, under what the steps do, in `explain`, of a build's facts."""
    line = input_text(Input("params.metrics", UNSET, setting))
    for text in (line, _setting("metrics", [setting], None), yaml_text(setting), builds.value_text(setting)):
        assert not re.search(r"'|None|True|False", text)


def test_a_setting_with_parts_is_shown_as_the_spec_has_it() -> None:
    metrics = {"qps": {"pattern": "per second: ([0-9.]+)", "json": None, "required": True}}
    shown = '{qps: {pattern: "per second: ([0-9.]+)", required: true}}'
    assert input_text(Input("params.metrics", UNSET, metrics)) == f"params.metrics: not set -> {shown}"
    assert value_text([metrics]) == f"[{shown}]"
