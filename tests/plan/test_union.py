"""A grid's plan is that of its cells, each compiled alone: no value is taken from a cell where it is another."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepgrid.language.problems import SpecError
from stepgrid.model.plan import Plan, PlannedStage

Compile = Callable[..., Plan]

OPTIONS, PARAMS, AXES = ("a", "b", "c", "d"), ("threads", "reads", "x"), ("one", "two", "three")
SCOPES: list[dict[str, Any]] = [{}, {"from": "loaded"}, {"steps": ["read"]}, {"steps": ["load", "write"]}]
VERSIONS = ("7.8.3", "9.10.0")
STEPS = """\
steps:
  - {name: load, kind: db_bench, benchmarks: [fillseq], fresh: true, options: {c: 7}}
  - checkpoint: loaded
  - {name: read, kind: db_bench, benchmarks: [readrandom, {when: "options.a | default(0) > 1", value: stats}]}
  - {name: write, kind: db_bench, benchmarks: [overwrite], when: "params.threads < 3", writes: "{{ params.x * 2 }}"}
"""

number = st.integers(1, 3)
atom = st.one_of(
    st.sampled_from([f"options.{name} | default(1)" for name in OPTIONS]),
    st.sampled_from([f"params.{name}" for name in PARAMS]),
    st.sampled_from([f"({axis} | default('') | string | length)" for axis in AXES]),
    st.sampled_from(["(1 if version < '8' else 2)", "(options['b'] | default(1))", "hardware.cores"]),
)
condition = st.tuples(atom, number).map(lambda drawn: f"({drawn[0]}) > {drawn[1]}")
template = st.tuples(atom, number).map(lambda drawn: f"{{{{ ({drawn[0]}) + {drawn[1]} }}}}")
block = condition.map(lambda said: f"{{% if {said} %}}4{{% else %}}5{{% endif %}}")
plain = number.map(str)
conditional = st.tuples(condition, st.one_of(plain, template)).map(lambda drawn: {"when": drawn[0], "value": drawn[1]})
value = st.one_of(plain, template, block, st.just("unset"), st.lists(conditional, min_size=1, max_size=2))
layer = st.dictionaries(st.sampled_from(OPTIONS), value, max_size=3)
param = st.one_of(plain, number.map(lambda n: f"{{{{ hardware.cores * {n} }}}}"))


@st.composite
def spec(draw: st.DrawFn) -> dict[str, Any]:
    """Axes take turns with options and params, for two may not set the same."""
    axes = AXES[: draw(st.integers(1, 3))]
    free = draw(st.permutations(OPTIONS)), draw(st.permutations(PARAMS))
    sweep: dict[str, Any] = {}
    for n, axis in enumerate(axes):
        options, params = free[0][n], free[1][n]
        points = {f"{axis}{k}": _point(draw, options, params) for k in range(draw(st.integers(1, 3)))}
        scope = draw(st.sampled_from(SCOPES))
        sweep[axis] = {**scope, "points": points}
    return {"options": [draw(layer), {"options": draw(layer), "when": draw(condition)}], "sweep": sweep}


def _point(draw: st.DrawFn, option: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if draw(st.booleans()):
        found["options"] = {option: draw(value)}
    if draw(st.booleans()):
        found["params"] = {name: draw(plain)}
    return found


def text(drawn: dict[str, Any], versions: tuple[str, ...], sweep: dict[str, Any], pick: dict[str, str] | None) -> str:
    builds = f"{{rocksdb: {{engine: rocksdb, versions: {list(versions)}, source: {{system: x}}}}}}"
    chosen = {axis: points if pick is None else _only(points, pick[axis]) for axis, points in sweep.items()}
    head = f"title: t\nbuilds: {builds}\noptions: {drawn['options']!r}\nsweep: {chosen!r}\n"
    head = re.sub(r"'(\d+|unset)'", r"\1", head)  # numbers, not quoted text
    return f"{head}{STEPS}params: {{keys: 1k, threads: 1, reads: 5, x: 2}}\nrepeat: {{loads: 2, runs: 2}}\n"


def _only(axis: dict[str, Any], label: str) -> dict[str, Any]:
    return {**axis, "points": {label: axis["points"][label]}}


def outcome(compile_text: Compile, spec_text: str) -> Plan | set[tuple[str, str]]:
    try:
        return compile_text(spec_text)
    except SpecError as error:
        return {(problem.code, problem.message) for problem in error.problems if problem.severity == "error"}


def described(plan: Plan) -> Iterator[tuple[str, Any]]:
    """Of each cell: its labels and what its stages are, but for ranks, titles and other cells."""
    stages = {stage.id: stage for stage in plan.stages}
    for cell in plan.cells:
        yield cell.id, (cell.labels, cell.steps, [[_stage(stages[s]) for s in r.stages] for r in cell.repeats])


def _stage(stage: PlannedStage) -> Any:
    """Whether a lack makes the cell unsupported or is an error is the first cell's word, where cells share a stage."""
    options = [{name: (o.value, o.unsupported == "drop") for name, o in step.options.items()} for step in stage.steps]
    settings = [(step.name, step.seed, step.settings, step.measured) for step in stage.steps]
    return stage.id, stage.parent, stage.seconds, stage.load, stage.run, options, settings


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(spec())
def test_a_grid_is_the_union_of_its_cells(compile_text: Compile, drawn: dict[str, Any]) -> None:
    sweep = drawn["sweep"]
    whole = outcome(compile_text, text(drawn, VERSIONS, sweep, None))
    alone: dict[str, Any] = {}
    said: set[tuple[str, str]] = set()
    for version in VERSIONS:
        for pick in picks(sweep):
            one = outcome(compile_text, text(drawn, (version,), sweep, pick))
            alone |= described(one) if isinstance(one, Plan) else {}
            said |= one if isinstance(one, set) else set()
    if isinstance(whole, Plan):
        assert not said
        assert dict(described(whole)) == alone
    else:
        # which of the values in a circle is told of first depends on where one comes from
        assert said or {code for code, _ in whole} <= {"points-alike"}


def picks(sweep: dict[str, Any]) -> Iterator[dict[str, str]]:
    found: list[dict[str, str]] = [{}]
    for axis, points in sweep.items():
        found = [{**pick, axis: label} for pick in found for label in points["points"]]
    yield from found
