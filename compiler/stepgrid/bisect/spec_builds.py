"""The builds of a spec by the names that it gives them, and what of it a search looks at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from stepgrid.bisect.request import SearchError
from stepgrid.language.problems import nearest
from stepgrid.model.metrics import Metric
from stepgrid.model.plan import Axis, Plan, PlannedBuild, PlannedCell
from stepgrid.plan.report_check import Comparison, figures, parse_claim
from stepgrid.plugins import metrics

BUILD = "build"


class Family(NamedTuple):
    name: str
    builds: Mapping[str, PlannedBuild]  # label -> build, in the order of the spec


def family(plan: Plan, asked: str | None) -> Family:
    """Asked for by its name or by that of one of its builds; without a name the only one."""
    found = _families(plan)
    of = {label: name for name, each in found.items() for label in each}
    if asked in of:
        return Family(of[asked], {asked: found[of[asked]][asked]})
    if asked is None and len(found) == 1:
        return Family(*next(iter(found.items())))
    if asked not in found:
        what = "the spec has several builds" if asked is None else f"the spec has no build `{asked}`"
        raise SearchError(f"{what}: name one with `--build`; {nearest(asked or '', found)}")
    return Family(asked, found[asked])


def _families(plan: Plan) -> dict[str, dict[str, PlannedBuild]]:
    known = {build.id: build for build in plan.builds}
    labels = {cell.labels[BUILD]: known[cell.build] for cell in plan.cells}
    order = next((axis.labels for axis in plan.axes if axis.name == BUILD), tuple(labels))
    found: dict[str, dict[str, PlannedBuild]] = {}
    for label in filter(labels.__contains__, order):
        version = labels[label].version
        found.setdefault(label.removesuffix(f"-{version}") if version else label, {})[label] = labels[label]
    return found


def step(plan: Plan, builds: Family, asked: str | None) -> str:
    """The one whose figure is looked at; of one cell."""
    cells = [cell for cell in plan.cells if cell.labels[BUILD] in builds.builds]
    names = list(dict.fromkeys(step.name for cell in cells for step in cell.steps if step.measured))
    found = asked or (names[0] if len(names) == 1 else None)
    if found not in names:
        what = f"no measured step is named `{found}`" if found else f"the spec has {len(names)} measured steps"
        raise SearchError(f"{what}: name one with `--step`; {nearest(found or '', names)}")
    _refuse_several(found, cells, plan.axes)
    return found


def _refuse_several(step: str, cells: Sequence[PlannedCell], axes: Sequence[Axis]) -> None:
    touching = [axis.name for axis in axes if axis.name != BUILD and (axis.steps is None or step in axis.steps)]
    points = {tuple((axis, cell.labels[axis]) for axis in touching if axis in cell.labels) for cell in cells}
    if len(points) > 1:
        one = " and ".join(f"{axis} == '{label}'" for axis, label in sorted(points)[0])
        raise SearchError(f'`{step}` has {len(points)} cells for each build: choose one, such as --only "{one}"')


def better(plan: Plan, metric: str) -> str:
    """Which way is better."""
    own = metrics.step_metrics(step for stage in plan.stages for step in stage.steps)
    known: Mapping[str, Metric] = {**metrics.METRICS, **own}
    if metric not in known:
        raise SearchError(f"there is no metric `{metric}`: {nearest(metric, known)}")
    if known[metric].better is None:
        raise SearchError(f"`{metric}` has no better direction: search by a claim of the spec (`--claim`)")
    return str(known[metric].better)


def claim(plan: Plan, asked: str) -> Mapping[str, Any]:
    """By its text, its expression or a part of its text; about every build, whichever it names."""
    every = [cast("Mapping[str, Any]", each) for each in plan.report.claims]
    found = [each for each in every if asked in (each["claim"], each["expect"])]
    found = found or [each for each in every if asked.lower() in str(each["claim"]).lower()]
    if len(found) != 1:
        what = f"{len(found)} claims of the spec are" if found else "no claim of the spec is"
        raise SearchError(f"{what} about `{asked}`; {nearest('', [each['claim'] for each in found or every])}")
    _refuse_unlike(str(found[0]["expect"]))
    where = {axis: label for axis, label in (found[0].get("where") or {}).items() if axis != BUILD}
    return {"claim": found[0]["claim"], "expect": found[0]["expect"], **({"where": where} if where else {})}


def _refuse_unlike(expect: str) -> None:
    statement = parse_claim(expect)
    if not isinstance(statement, Comparison) or statement.sign in ("==", "!="):
        raise SearchError(f"`{expect}`: a search needs one comparison by <, <=, > or >=")
    named = [axis for side in (statement.lhs, statement.rhs) for each in figures(side) for axis, _ in each.labels]
    if BUILD in named:
        raise SearchError(f"`{expect}` names builds: a search looks at each build by itself")
