"""What `plan` says of changes of launch, start, probes and collectors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stepgrid.plan.difference import UNSET, differences, setup_changes, setup_fields
from tests.expand.steps.test_service import SERVICE
from tests.plan.difference.test_stage_difference import SPEC, Compile, between, chain, named

PROBES = """\
probes:
  - {name: size, before: [readww], command: [du, "{data}"]}
  - {name: files, after: [readww], command: [ls, "{data}"]}
params:"""
COLLECTORS = "collectors: [{collector: perf_stat, events: [cycles]}, pidstat]\nparams:"


def test_launch_and_start(compile_text: Compile) -> None:
    interleaved = ("params:", "launch: {numa: interleave, env: {A: '1'}}\nparams:")
    assert named(between(compile_text, interleaved)) == [
        ("launch.env.A", UNSET, "1"),
        ("launch.numa", UNSET, "interleave"),
    ]
    assert named(between(compile_text, ("params:", "start: cold\nparams:"))) == [("start", UNSET, "cold")]


def test_a_launch_that_an_axis_sets(compile_text: Compile) -> None:
    axis = "sweep: {place: {points: {one: {launch: {cpus: '%s'}}}}}\n"
    found = between(compile_text, ("params:", axis % "0" + "params:"))
    assert named(found) == [("launch.cpus", UNSET, "0")]


def test_probes(compile_text: Compile) -> None:
    found = named(between(compile_text, ("params:", PROBES)))
    assert [field for field, *_ in found if field.startswith("files.")] == ["files.du", "files.ls"]  # their programs
    assert [entry for entry in found if not entry[0].startswith("files.")] == [
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
    ],
)
def test_a_probe_that_changed(compile_text: Compile, old: str, new: str, expected: object) -> None:
    before, after = SPEC.replace("params:", PROBES), SPEC.replace("params:", PROBES.replace(old, new))
    steps = [chain(compile_text(text))[1].stage.steps[0] for text in (before, after)]
    assert [each for each in setup_changes(*steps) if each[1] != each[2]] == expected


def test_the_order_of_probes(compile_text: Compile) -> None:
    step = chain(compile_text(SPEC.replace("params:", PROBES.replace("after", "before"))))[1].stage.steps[0]
    turned = replace(step, setup={"before": list(reversed(step.setup["before"]))})  # type: ignore[arg-type]
    found = [each for each in setup_changes(step, turned) if each[1] != each[2]]
    assert found == [("probes", ["size", "files"], ["files", "size"])]


def test_collectors(compile_text: Compile) -> None:
    text = SPEC.replace("params:", COLLECTORS)
    old = chain(compile_text(text))[1].stage.steps[0]
    new = chain(compile_text(text.replace("cycles", "instructions")))[1].stage.steps[0]
    assert setup_fields(old)["collectors.perf_stat.events"] == ["cycles"]
    assert setup_fields(new)["collectors.perf_stat.events"] == ["instructions"]


def test_what_waits_is_no_input_beside_a_file(compile_text: Compile, tmp_path: Path) -> None:
    text = SERVICE.replace("[bench, ", "[./bench.sh, ")
    (tmp_path / "bench.sh").touch()
    old = compile_text(text)
    new = compile_text(text.replace("SIGINT", "SIGTERM").replace("timeout: 5s", "timeout: 6s"))
    assert named(differences(chain(old), chain(new))) == [("service.stop.signal", "SIGINT", "SIGTERM")]
    waits = compile_text(text.replace("timeout: 5s", "timeout: 6s"))
    assert [stage.id for stage in waits.stages] == [stage.id for stage in old.stages]


def test_the_storage_engine_of_a_kind_without_that_setting(compile_text: Compile) -> None:
    step = chain(compile_text(SPEC))[0].stage.steps[0]
    assert setup_fields(replace(step, setup={"storage_engine": "rocksdb"})) == {"params.storage_engine": "rocksdb"}
    settings = {**step.settings, "storage_engine": "rocksdb"}
    assert setup_fields(replace(step, settings=settings, setup={"storage_engine": "rocksdb"})) == {}


def test_a_service(compile_text: Compile, tmp_path: Path) -> None:
    def fields_of(text: str) -> dict[str, object]:
        return setup_fields(compile_text(text).stages[0].steps[0])

    before, after = (fields_of(text) for text in (SERVICE, SERVICE.replace("5s", "6s").replace("ping", "hello")))
    assert {name: after[name] for name in after if before[name] != after[name]} == {
        "service.ready.command": ["{program:cli}", "{port}", "hello"]
    }
    assert sorted(after) == [
        "service.argv",
        "service.env.LOG",
        "service.option",
        "service.ready.command",
        "service.stop.signal",
    ]
