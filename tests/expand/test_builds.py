"""Builds of a spec: faults of their lines, sources for each version, clients of steps."""

import pytest

from tests.cases import rows

STEPS = "steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], keys: 1k}]\n"
# A build's source as it is for its version: names, lists of names, values with conditions


def builds(compile_text, source, versions="versions: [7.8.3, 9.10.0]"):
    text = f"title: t\nbuilds: {{rocksdb: {{engine: rocksdb, {versions}, source: {source}}}}}\n"
    return sorted(compile_text(text + STEPS).builds, key=lambda build: build.version)


@pytest.mark.parametrize(("debian", "expected"), rows(__file__, "packages"))
def test_packages(compile_text, debian, expected):
    found = builds(compile_text, f"{{debian: {debian}, suite: trixie}}")
    assert [build.source["debian"] for build in found] == expected


def test_a_list_of_one_is_that_one(compile_text):
    one, listed, two = (builds(compile_text, f"{{debian: {d}, suite: sid}}")[0].id for d in ("a1", "[a1]", "[a1, b1]"))
    assert one == listed != two


def test_a_value_that_is_a_number_is_text(compile_text):
    assert builds(compile_text, '{debian: a1, suite: "{{ 10 + 2 }}"}')[0].source == {"debian": "a1", "suite": "12"}


@pytest.mark.parametrize(
    "source",
    [
        "{system: db_bench}", "{debian: a1, suite: sid}", "{path: x}", '{maven: "org.rocksdb:rocksdbjni:9.10.0"}',
        "{crate: x, version: 1.0}", '{git: "https://example.org/x.git", ref: main}',
    ],
)  # fmt: skip
def test_a_source_that_says_what_is_built_needs_no_version(compile_text, source):
    assert [build.version for build in builds(compile_text, source, "options: []")] == [""]


@pytest.mark.parametrize("version", ["version: 9.10.0", "versions: [9.10.0]"])
def test_the_version_of_a_build_is_that_of_its_artifact(compile_text, version):
    assert builds(compile_text, '{maven: "org.rocksdb:rocksdbjni"}', version)[0].version == "9.10.0"


# The client of a step is a build of its own: found by name, made once, part of what a stage is


SERVER_BUILD = "builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}\n"
CLIENT_BASE = "title: t\n" + SERVER_BUILD
CLIENT_STEPS = "steps: [{name: point, kind: sysbench, lua: point_query, duration: 1s, rows: 10}]\n"
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


def _clients(plan):
    """By step."""
    builds = {build.id: build for build in plan.builds}
    return {step.name: builds[step.client] for stage in plan.stages for step in stage.steps if step.client}


def _sources(plan):
    return {name: build.source for name, build in _clients(plan).items()}


def test_the_drivers_own_name_is_the_default(compile_text):
    plan = compile_text(CLIENT_BASE + CLIENT_STEPS + DEFINED)
    assert _sources(plan) == {"point": {"debian": "sysbench", "suite": "bookworm"}}
    assert sorted(build.engine for build in plan.builds) == ["mariadb", "sysbench"]
    assert [cell.build for cell in plan.cells] == [build.id for build in plan.builds if build.engine == "mariadb"]


def test_a_param_names_another(compile_text):
    plan = compile_text(CLIENT_BASE + CLIENT_STEPS + DEFINED + "params: {client: sysbench.source}\n")
    assert _sources(plan) == {"point": {"git": "https://example.org/s.git", "ref": "1.0.20"}}


def test_a_step_names_its_own(compile_text):
    steps = """\
steps:
  - {name: one, kind: sysbench, lua: point_query, duration: 1s, rows: 10}
  - {name: two, kind: sysbench, lua: point_query, duration: 1s, rows: 10, client: sysbench.many-1.0.19}
  - {name: three, kind: sysbench, lua: point_query, duration: 1s, rows: 10, client: sysbench.one}
"""
    found = _clients(compile_text(CLIENT_BASE + steps + DEFINED))
    assert {step: build.version for step, build in found.items()} == {
        "one": "1.0.20",
        "two": "1.0.19",
        "three": "1.0.18",
    }
    assert [build.name for build in found.values()] == ["sysbench", "sysbench.many-1.0.19", "sysbench.one-1.0.18"]


def test_an_axis_of_clients(compile_text):
    axis = "sweep: {client: {param: client, values: [sysbench, sysbench.source]}}\n"
    plan = compile_text(CLIENT_BASE + CLIENT_STEPS + DEFINED + axis)
    assert [cell.labels["client"] for cell in plan.cells] == ["sysbench", "sysbench.source"]
    assert len({stage.id for stage in plan.stages}) == 2
    assert len(plan.builds) == 3


def test_the_name_is_a_label(compile_text):
    renamed = DEFINED.replace("    sysbench:", "    mine:") + "params: {client: mine}\n"
    one, other = compile_text(CLIENT_BASE + CLIENT_STEPS + DEFINED), compile_text(CLIENT_BASE + CLIENT_STEPS + renamed)
    assert [stage.id for stage in one.stages] == [stage.id for stage in other.stages]
    assert one.stages[0].builds == (one.stages[0].build, one.stages[0].clients[0])


def test_a_build_of_the_spec_that_is_abstract(compile_text):
    own = SERVER_BUILD.rstrip("}\n") + "}}, mine: {extends: sysbench, version: 1.0.17, abstract: true}}\n"
    plan = compile_text("title: t\n" + own + CLIENT_STEPS + DEFINED + "params: {client: mine}\n")
    assert [build.version for build in _clients(plan).values()] == ["1.0.17"]
    assert [cell.labels["build"] for cell in plan.cells] == ["mariadb"]


def test_what_no_step_runs_needs_no_client(compile_text):
    steps = "steps: [{name: one, kind: sql, sql: SELECT 1}, {name: two, kind: sysbench, lua: point_query, duration: 1s,"
    never = " rows: 10, client: none, when: \"build == 'other'\"}]\n"
    assert [build.engine for build in compile_text(CLIENT_BASE + steps + never).builds] == ["mariadb"]
