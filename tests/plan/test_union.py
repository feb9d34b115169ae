"""A grid's plan is that of its cells, each compiled alone, and a cell written out as a spec is the same cell.

No value is taken from a cell where it is another, and none depends on layers, axes or expressions that it came by."""

import json
import re
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepgrid.language.problems import SpecError
from stepgrid.model.plan import Plan
from stepgrid.plan.assembly import compile_spec
from stepgrid.plugins.registry import driver
from stepgrid.plugins.settings import Quantity
from tests.conftest import HOST
from tests.plan.test_identity import ROOT, WHOLE

OPTIONS, PARAMS, AXES = ("a", "b", "c", "d"), ("threads", "reads", "x"), ("one", "two", "three")
SCOPES = [{}, {"from": "loaded"}, {"steps": ["read"]}, {"steps": ["load", "write"]}]
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


@st.composite
def spec(draw):
    """Axes take turns with options and params, for two may not set the same."""
    axes = AXES[: draw(st.integers(1, 3))]
    free = draw(st.permutations(OPTIONS)), draw(st.permutations(PARAMS))
    sweep = {}
    for n, axis in enumerate(axes):
        options, params = free[0][n], free[1][n]
        points = {f"{axis}{k}": _point(draw, options, params) for k in range(draw(st.integers(1, 3)))}
        scope = draw(st.sampled_from(SCOPES))
        sweep[axis] = {**scope, "points": points}
    return {"options": [draw(layer), {"options": draw(layer), "when": draw(condition)}], "sweep": sweep}


def _point(draw, option, name):
    found = {}
    if draw(st.booleans()):
        found["options"] = {option: draw(value)}
    if draw(st.booleans()):
        found["params"] = {name: draw(plain)}
    return found


def text(drawn, versions, sweep, pick):
    builds = f"{{rocksdb: {{engine: rocksdb, versions: {list(versions)}, source: {{system: x}}}}}}"
    chosen = {axis: points if pick is None else _only(points, pick[axis]) for axis, points in sweep.items()}
    head = f"title: t\nbuilds: {builds}\noptions: {drawn['options']!r}\nsweep: {chosen!r}\n"
    head = re.sub(r"'(\d+|unset)'", r"\1", head)  # numbers, not quoted text
    return f"{head}{STEPS}params: {{keys: 1k, threads: 1, reads: 5, x: 2}}\nrepeat: {{loads: 2, runs: 2}}\n"


def _only(axis, label):
    return {**axis, "points": {label: axis["points"][label]}}


def outcome(compile_text, spec_text):
    try:
        return compile_text(spec_text)
    except SpecError as error:
        return {(problem.code, problem.message) for problem in error.problems if problem.severity == "error"}


def described(plan):
    """Of each cell: its labels and what its stages are, but for ranks, titles and other cells."""
    stages = {stage.id: stage for stage in plan.stages}
    for cell in plan.cells:
        yield cell.id, (cell.labels, cell.steps, [[_stage(stages[s]) for s in r.stages] for r in cell.repeats])


def _stage(stage):
    """Whether a lack makes the cell unsupported or is an error is the first cell's word, where cells share a stage."""
    options = [{name: (o.value, o.unsupported == "drop") for name, o in step.options.items()} for step in stage.steps]
    settings = [(step.name, step.seed, step.settings, step.measured) for step in stage.steps]
    return stage.id, stage.parent, stage.seconds, stage.load, stage.run, options, settings


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(spec())
def test_a_grid_is_the_union_of_its_cells(compile_text, drawn):
    sweep = drawn["sweep"]
    whole = outcome(compile_text, text(drawn, VERSIONS, sweep, None))
    alone = {}
    said = set()
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


def picks(sweep):
    found = [{}]
    for axis, points in sweep.items():
        found = [{**pick, axis: label} for pick in found for label in points["points"]]
    yield from found


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(spec())
def test_a_cell_written_out_is_the_same_cell(compile_text, drawn):
    whole = outcome(compile_text, text(drawn, VERSIONS, drawn["sweep"], None))
    if isinstance(whole, Plan):
        for cell in whole.cells[:6]:
            came_back(compile_text, whole, cell)


def test_every_cell_of_what_an_id_is_made_of(compile_text):
    plan = compile_text(WHOLE.replace("hardware: {cores: 4, memory: 16GiB}\n", ""))
    assert len(plan.cells) > 10
    for cell in plan.cells:
        came_back(compile_text, plan, cell, seed=7)


@pytest.mark.parametrize("post", sorted((ROOT / "specs" / "posts").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_cell_of_each_published_experiment(compile_text, post, monkeypatch):
    monkeypatch.chdir(ROOT)
    plan = compile_spec(str(post.relative_to(ROOT)), "smoke", HOST)
    for cell in (plan.cells[0], plan.cells[-1]):
        came_back(compile_text, plan, cell)


def came_back(compile_text, plan, cell, seed=1):
    again = compile_text(cell_text(plan, cell, seed))
    assert [repeat.stages for repeat in again.cells[0].repeats] == [repeat.stages for repeat in cell.repeats]
    assert len(again.cells) == 1


# A cell of a plan as a spec of its own: every value written out, nothing left to layers, axes or expressions

SETUP = ("launch", "start")  # of the whole spec; of a step in a plan


def cell_text(plan, cell, seed=1):
    """YAML, as JSON; the machine is left out, so the host must be the same."""
    build = next(build for build in plan.builds if build.id == cell.build)
    by_id = {stage.id: stage for stage in plan.stages}
    chain = [by_id[stage] for stage in cell.repeats[0].stages]
    first = chain[0].steps[0]
    spec = {
        "title": "one cell",
        "builds": {build.name: _build(build)},
        "steps": [item for stage in chain for item in ({"checkpoint": stage.id}, *map(_step, stage.steps))][1:],
        "repeat": {"loads": 1 + max(r.load for r in cell.repeats), "runs": 1 + max(r.run for r in cell.repeats)},
        "seed": seed,
        "params": {"storage_engine": first.setup.storage_engine} if first.setup.storage_engine else {},
        "probes": _probes(chain),
        "define": {"builds": _clients(plan, chain)},
        **{name: value for name, value in first.setup.to_json().items() if name in SETUP},
    }
    return json.dumps(spec, indent=1, ensure_ascii=False)


def _build(build):
    recipe = dict(build.recipe)
    if patches := cast(list[dict[str, Any]], recipe.get("patches", [])):
        recipe["patches"] = [str(ROOT / patch["path"]) for patch in patches]
    return {"engine": build.engine, "version": build.version, "source": dict(build.source), **recipe}


def _clients(plan, chain):
    builds = {build.id: build for build in plan.builds}
    steps = [step for stage in chain for step in stage.steps]
    return {str(step.settings["client"]): _build(builds[step.client]) for step in steps if step.client}


def _probes(chain):
    found = {}
    for step in (step for stage in chain for step in stage.steps):
        for when in ("before", "after"):
            for probe in cast(list[dict[str, Any]], step.setup.to_json().get(when, [])):
                found.setdefault(probe["name"], dict(probe)).setdefault(when, []).append(step.name)
    return list(found.values())


def _step(step):
    settings = {name: _setting(step.kind, name, value) for name, value in step.settings.items()}
    options = {name: _option(option) for name, option in step.options.items()}
    flags = {"measured": step.measured, "mutates": step.mutates}
    return {"name": step.name, "kind": step.kind, **flags, "options": options, "params": settings}


def _setting(kind, name, value):
    metadata = driver(kind).settings_model().model_fields[name].metadata
    seconds = any(isinstance(item, Quantity) and item.kind == "duration" for item in metadata)
    return f"{value}s" if seconds and value is not None else value


def _option(option):
    return {"value": option.value, "when_unsupported": "drop"} if option.unsupported == "drop" else option.value
