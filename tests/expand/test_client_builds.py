"""The client of a step is a build of its own: found by name, made once, part of what a stage is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from stepgrid.model.plan import Plan, PlannedBuild

Compile = Callable[..., Plan]
Complaints = Callable[..., str]

ENGINE = "builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}\n"
BASE = "title: t\n" + ENGINE
STEPS = "steps: [{name: point, kind: sysbench, lua: point_query, duration: 1s, rows: 10}]\n"
SYSBENCH = "engine: sysbench, version: 1.0.20"
DEFINED = f"""\
define:
  builds:
    sysbench: {{{SYSBENCH}, source: {{debian: sysbench, suite: bookworm}}}}
    sysbench.source: {{{SYSBENCH}, source: {{git: "https://example.org/s.git", ref: "{{{{ version }}}}"}}}}
    sysbench.many: {{engine: sysbench, versions: [1.0.19, 1.0.20], source: {{system: sysbench}}}}
    sysbench.one: {{engine: sysbench, versions: [1.0.18], source: {{system: sysbench}}}}
    rocksdb: {{engine: rocksdb, version: 9.9.3, source: {{system: db_bench}}}}
"""


def _clients(plan: Plan) -> dict[str, PlannedBuild]:
    """By step."""
    builds = {build.id: build for build in plan.builds}
    return {step.name: builds[step.client] for stage in plan.stages for step in stage.steps if step.client}


def _sources(plan: Plan) -> Mapping[str, object]:
    return {name: build.source for name, build in _clients(plan).items()}


def test_the_drivers_own_name_is_the_default(compile_text: Compile) -> None:
    plan = compile_text(BASE + STEPS + DEFINED)
    assert _sources(plan) == {"point": {"debian": "sysbench", "suite": "bookworm"}}
    assert sorted(build.engine for build in plan.builds) == ["mariadb", "sysbench"]
    assert [cell.build for cell in plan.cells] == [build.id for build in plan.builds if build.engine == "mariadb"]


def test_a_param_names_another(compile_text: Compile) -> None:
    plan = compile_text(BASE + STEPS + DEFINED + "params: {client: sysbench.source}\n")
    assert _sources(plan) == {"point": {"git": "https://example.org/s.git", "ref": "1.0.20"}}


def test_a_step_names_its_own(compile_text: Compile) -> None:
    steps = """\
steps:
  - {name: one, kind: sysbench, lua: point_query, duration: 1s, rows: 10}
  - {name: two, kind: sysbench, lua: point_query, duration: 1s, rows: 10, client: sysbench.many-1.0.19}
  - {name: three, kind: sysbench, lua: point_query, duration: 1s, rows: 10, client: sysbench.one}
"""
    found = _clients(compile_text(BASE + steps + DEFINED))
    assert {step: build.version for step, build in found.items()} == {
        "one": "1.0.20",
        "two": "1.0.19",
        "three": "1.0.18",
    }
    assert [build.name for build in found.values()] == ["sysbench", "sysbench.many-1.0.19", "sysbench.one-1.0.18"]


def test_an_axis_of_clients(compile_text: Compile) -> None:
    axis = "sweep: {client: {param: client, values: [sysbench, sysbench.source]}}\n"
    plan = compile_text(BASE + STEPS + DEFINED + axis)
    assert [cell.labels["client"] for cell in plan.cells] == ["sysbench", "sysbench.source"]
    assert len({stage.id for stage in plan.stages}) == 2
    assert len(plan.builds) == 3


def test_clients_that_are_one_build_are_one_point(complaints: Complaints) -> None:
    again = f"    again: {{{SYSBENCH}, source: {{debian: sysbench, suite: bookworm}}}}\n"
    axis = "sweep: {client: {param: client, values: [sysbench, again]}}\n"
    assert "error[points-alike]" in complaints(BASE + STEPS + DEFINED + again + axis)


def test_the_name_is_a_label(compile_text: Compile) -> None:
    renamed = DEFINED.replace("    sysbench:", "    mine:") + "params: {client: mine}\n"
    one, other = compile_text(BASE + STEPS + DEFINED), compile_text(BASE + STEPS + renamed)
    assert [stage.id for stage in one.stages] == [stage.id for stage in other.stages]
    assert one.stages[0].builds == (one.stages[0].build, one.stages[0].clients[0])


def test_the_build_is_none(compile_text: Compile) -> None:
    other = DEFINED.replace("suite: bookworm", "suite: trixie")
    one, two = (compile_text(BASE + STEPS + defined).stages[0] for defined in (DEFINED, other))
    assert (one.id != two.id, one.build == two.build, one.clients != two.clients) == (True, True, True)


def test_a_build_of_the_spec_that_is_abstract(compile_text: Compile) -> None:
    own = ENGINE.rstrip("}\n") + "}}, mine: {extends: sysbench, version: 1.0.17, abstract: true}}\n"
    plan = compile_text("title: t\n" + own + STEPS + DEFINED + "params: {client: mine}\n")
    assert [build.version for build in _clients(plan).values()] == ["1.0.17"]
    assert [cell.labels["build"] for cell in plan.cells] == ["mariadb"]


def test_what_no_step_runs_needs_no_client(compile_text: Compile) -> None:
    steps = "steps: [{name: one, kind: sql, sql: SELECT 1}, {name: two, kind: sysbench, lua: point_query, duration: 1s,"
    never = " rows: 10, client: none, when: \"build == 'other'\"}]\n"
    assert [build.engine for build in compile_text(BASE + steps + never).builds] == ["mariadb"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            DEFINED + "params: {client: sysbench.sourec}\n",
            "a.yaml:11:18: error[undefined-name]: there is no build `sysbench.sourec`\n"
            "  11 | params: {client: sysbench.sourec}\n"
            "     |                  ^^^^^^^^^^^^^^^\n"
            "   = did you mean `sysbench.source`?",
        ),
        (
            DEFINED + "params: {client: rocksdb}\n",
            "a.yaml:11:18: error[wrong-setting]: `rocksdb` is a build of rocksdb; the client of step `point` is one of "
            "sysbench\n"
            "  11 | params: {client: rocksdb}\n"
            "     |                  ^^^^^^^\n"
            "   = known here: sysbench, sysbench.many-1.0.19, sysbench.many-1.0.20, sysbench.one-1.0.18, "
            "sysbench.source",
        ),
        (
            DEFINED + "params: {client: sysbench.many}\n",
            "a.yaml:11:18: error[wrong-setting]: `sysbench.many` is 2 builds, and a step has one client\n"
            "  11 | params: {client: sysbench.many}\n"
            "     |                  ^^^^^^^^^^^^^\n"
            "   = one of: sysbench.many-1.0.19, sysbench.many-1.0.20",
        ),
        (
            "",
            "a.yaml:3:16: error[undefined-name]: step `point` needs a client: there is no build `sysbench`\n"
            "   3 | steps: [{name: point, kind: sysbench, lua: point_query, duration: 1s, rows: 10}]\n"
            "     |                ^^^^^\n"
            "   = include or `define:` a build of the engine sysbench",
        ),
        (
            DEFINED.replace("    sysbench:", "    mine:"),
            "a.yaml:3:16: error[undefined-name]: step `point` needs a client: there is no build `sysbench`\n"
            "   3 | steps: [{name: point, kind: sysbench, lua: point_query, duration: 1s, rows: 10}]\n"
            "     |                ^^^^^\n"
            "   = give `client: NAME`; did you mean `sysbench.source`?",
        ),
        (
            DEFINED.replace("suite: bookworm}", "suite: bookworm}, options: {threads: 2}"),
            "a.yaml:6:5: error[unknown-key]: build `sysbench` is a client, which takes no `options`\n"
            "   6 |     sysbench: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}, "
            "optio…\n"
            "     |     ^^^^^^^^\n"
            "   = say them in the step",
        ),
        (
            DEFINED.replace("debian: sysbench, ", ""),
            "a.yaml:6:60: error[no-source]: `suite` is no kind of source\n",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong(complaints: Complaints, more: str, expected: str) -> None:
    said = complaints(BASE + STEPS + more)
    assert said.startswith(expected), said
    assert said.count("error[") == 1, said


def test_a_client_that_goes_round(complaints: Complaints) -> None:
    round_ = "define: {builds: {sysbench: {extends: other}, other: {extends: sysbench}}}\n"
    said = complaints(BASE + STEPS + round_)
    assert said.startswith("a.yaml:4:64: error[extends-cycle]: definitions go round: sysbench → other → sysbench"), said
