"""The `service` of a build: what cells have of it, what of it is identity, and what is wrong with it."""

from __future__ import annotations

import pytest

from tests.expand.samples import Compile, Complaints, ids

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


def _said(text: str) -> list[str]:
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
def test_what_is_wrong_with_it(old: str, new: str, expected: list[str], complaints: Complaints) -> None:
    assert _said(complaints(SERVICE.replace(old, new))) == expected


def test_an_option_that_does_not_reach_it(complaints: Complaints, compile_text: Compile) -> None:
    given = "options: [{io-threads: 2, save: 1}]\n"
    alone = SERVICE.replace(', "{options}"]', "]") + given
    assert _said(complaints(alone)) == [
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
