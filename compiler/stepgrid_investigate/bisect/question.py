"""The question of a search: which build, which releases or commits, and which figure, by the command's words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import asdict

from stepgrid.build import git
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Order, asking
from stepgrid.errors import StepgridError
from stepgrid.language.problems import nearest
from stepgrid.language.site import current_site
from stepgrid.model.metrics import Metric
from stepgrid.model.plan import BUILD, Plan, PlannedAxis, PlannedBuild, PlannedCell, PlannedClaim
from stepgrid.plan.report_check import SIMILAR, ClaimComparison, figures, parse_claim
from stepgrid.plugins import metrics
from stepgrid.plugins.engine import VersionedTrees
from stepgrid.plugins.registry import engine

GIT = "git"
_KEY_DIGITS, _NAME_DIGITS = 20, 10
_Answer = TypeVar("_Answer")


class SearchError(StepgridError):
    """A sentence or two about a question that cannot be searched."""


class Words(Struct, frozen=True):
    """Arguments of the command."""

    spec: str
    scale: str | None
    only: str | None
    sets: tuple[str, ...]
    good: str
    bad: str
    build: str | None
    step: str | None
    metric: str
    claim: str | None
    by: float


class Candidate(NamedTuple):
    """A release or a commit. `ref`: what its build declares, a version or a whole commit."""

    name: str
    ref: str
    date: str = ""
    subject: str = ""
    version: str = ""  # of a commit, as its tree says it


class BisectRequest(Struct, frozen=True):
    """A search. If `commits`, then `good` and `bad` are whole commits; else they are versions."""

    spec: str
    scale: str | None
    only: str | None
    sets: tuple[str, ...]
    family: str  # the build as the spec names it
    version: str  # that the builds of commits declare
    commits: bool
    good: str
    bad: str
    step: str
    metric: str
    claim: str
    by: float

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:_KEY_DIGITS]

    @property
    def subject(self) -> str:
        return "claim" if self.claim else self.metric

    def label(self, candidate: Candidate) -> str:
        return f"{self.family}-{candidate.name}"


def make_request(words: Words, plan: Plan) -> BisectRequest:
    """Ask the plan, and the repository which commits are meant; a SearchError says what is wrong with the words."""
    family = find_family(plan, words.build)
    name, build = next(iter(family.builds.items()))
    ends = [_version(end, family) for end in (words.good, words.bad)]
    is_commits = None in ends
    if is_commits:
        if GIT not in build.source:
            raise SearchError(
                f"`{words.good}` and `{words.bad}` are not both versions of `{family.name}`, and its source is not "
                "git: name two of its `versions`"
            )
        if len(family.builds) > 1:
            count = len(family.builds)
            raise SearchError(
                f"`{family.name}` has {count} versions, and commits declare one: name it, as `--build {name}`"
            )
        refs = words.good, words.bad
        ends = [_ask_repository(build, partial(git.commit_of, ref=ref)) for ref in refs]
    claim = "" if words.claim is None else find_claim(plan, words.claim).claim
    step = "" if claim else _choose_step(plan, family, words.step)
    metric = "" if claim else words.metric
    if metric:
        is_lower_better(plan, metric)
    scope = words.spec, words.scale, words.only, words.sets
    good, bad = map(str, ends)
    return BisectRequest(*scope, family.name, build.version, is_commits, good, bad, step, metric, claim, words.by)


def list_candidates(request: BisectRequest, plan: Plan) -> list[Candidate]:
    """List the good end first, the bad one last."""
    family = find_family(plan, request.family)
    if request.commits:
        return _list_commits(next(iter(family.builds.values())), request)
    versions = [build.version for build in family.builds.values()]
    first, last = versions.index(request.good), versions.index(request.bad)
    if first >= last:
        raise SearchError(
            f"`{request.good}` does not stand before `{request.bad}` in the spec: list old versions first"
        )
    return [Candidate(version, version) for version in versions[first : last + 1]]


def _version(text: str, family: Family) -> str | None:
    """Read a version, or the name of its build; None: a commit is meant."""
    if text in family.builds:
        return family.builds[text].version
    versions = {build.version for build in family.builds.values()}
    return text if text in versions and len(versions) > 1 else None


# The spec


class Family(NamedTuple):
    """Builds of one name, by their labels, in the order of the spec."""

    name: str
    builds: Mapping[str, PlannedBuild]


def find_family(plan: Plan, name: str | None) -> Family:
    """Find builds by their name or that of one of them; without a name, the only ones."""
    families = _families(plan)
    if name is None and len(families) == 1:
        return Family(*next(iter(families.items())))
    for family, builds in families.items():
        if name in builds:
            return Family(family, {name: builds[name]})
    if name is None or name not in families:
        problem = "the spec has several builds" if name is None else f"the spec has no build `{name}`"
        raise SearchError(f"{problem}: name one with `--build`; {nearest(name or '', families)}")
    return Family(name, families[name])


def _families(plan: Plan) -> dict[str, dict[str, PlannedBuild]]:
    by_id = {build.id: build for build in plan.builds}
    by_label = {cell.labels[BUILD]: by_id[cell.build] for cell in plan.cells}
    order = next((axis.labels for axis in plan.axes if axis.name == BUILD), tuple(by_label))
    families: dict[str, dict[str, PlannedBuild]] = {}
    for label in filter(by_label.__contains__, order):
        version = by_label[label].version
        name = label.removesuffix(f"-{version}") if version else label
        families.setdefault(name, {})[label] = by_label[label]
    return families


def _choose_step(plan: Plan, family: Family, name: str | None) -> str:
    cells = [cell for cell in plan.cells if cell.labels[BUILD] in family.builds]
    names = list(dict.fromkeys(step.name for cell in cells for step in cell.steps if step.measured))
    chosen = name or (names[0] if len(names) == 1 else None)
    if chosen not in names:
        problem = f"no measured step is named `{chosen}`" if chosen else f"the spec has {len(names)} measured steps"
        raise SearchError(f"{problem}: name one with `--step`; {nearest(chosen or '', names)}")
    _refuse_several_cells(chosen, cells, plan.axes)
    return chosen


def _refuse_several_cells(step: str, cells: Sequence[PlannedCell], axes: Sequence[PlannedAxis]) -> None:
    touching = [axis.name for axis in axes if axis.name != BUILD and (axis.steps is None or step in axis.steps)]
    points = {tuple((axis, cell.labels[axis]) for axis in touching if axis in cell.labels) for cell in cells}
    if len(points) > 1:
        example = " and ".join(f"{axis} == '{label}'" for axis, label in sorted(points)[0])
        raise SearchError(f'`{step}` has {len(points)} cells for each build: choose one, such as --only "{example}"')


def is_lower_better(plan: Plan, metric: str) -> bool:
    declared = metrics.step_metrics(step for stage in plan.stages for step in stage.steps)
    by_name: Mapping[str, Metric] = {**metrics.METRICS, **declared}
    if metric not in by_name:
        raise SearchError(f"there is no metric `{metric}`: {nearest(metric, by_name)}")
    if by_name[metric].better is None:
        raise SearchError(f"`{metric}` has no better direction: search by a claim of the spec (`--claim`)")
    return by_name[metric].better == "lower"


def find_claim(plan: Plan, text: str) -> PlannedClaim:
    """Find a claim by its text, its expression or a part of its text, and make it one about each build."""
    claims = plan.report.claims
    matches = [claim for claim in claims if text in (claim.claim, claim.expect)]
    matches = matches or [claim for claim in claims if text.lower() in claim.claim.lower()]
    if len(matches) != 1:
        problem = f"{len(matches)} claims of the spec are" if matches else "no claim of the spec is"
        names = [claim.claim for claim in matches or claims]
        raise SearchError(f"{problem} about `{text}`; {nearest('', names)}")
    claim, expect = matches[0], matches[0].expect
    statement = parse_claim(expect)
    if not isinstance(statement, ClaimComparison) or statement.sign in ("==", "!=", SIMILAR):
        raise SearchError(f"`{expect}`: a search needs one comparison by <, <=, > or >=")
    sides = (figures(side) for side in (statement.lhs, statement.rhs))
    if any(axis == BUILD for side in sides for figure in side for axis, _ in figure.labels):
        raise SearchError(f"`{expect}` names builds: a search looks at each build by itself")
    where = {axis: label for axis, label in claim.where.items() if axis != BUILD}
    return PlannedClaim(claim=claim.claim, expect=expect, where=where)


# The repository of a build


def _list_commits(build: PlannedBuild, request: BisectRequest) -> list[Candidate]:
    kind = engine(build.engine)
    versions = kind if isinstance(kind, VersionedTrees) else None
    commits = _ask_repository(build, lambda order, url: git.commits(order, url, request.good, request.bad, versions))
    return [
        Candidate(commit.id[:_NAME_DIGITS], commit.id, commit.date, commit.subject, commit.version)
        for commit in commits
    ]


def describe_commit(build: PlannedBuild, commit: str) -> str:
    """Show what a commit changed; the answer of a search does without a repository that is gone."""
    try:
        return _ask_repository(build, lambda order, url: git.changes(order, url, commit))
    except SearchError as error:
        return f"commit {commit}: {error}"


def _ask_repository(build: PlannedBuild, ask: Callable[[Order, str], _Answer]) -> _Answer:
    with asking(build, current_site()) as order:
        try:
            return ask(order, str(build.source[GIT]))
        except (BuildError, OSError) as error:
            raise SearchError(str(error)) from None
