"""From the command's words to a search: which build, which candidates, which figure."""

from __future__ import annotations

from dataclasses import dataclass

from stepgrid.bisect import repository, spec_builds
from stepgrid.bisect.request import Candidate, Request, SearchError
from stepgrid.bisect.spec_builds import Family
from stepgrid.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Words:
    """As they were given."""

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


def request_of(words: Words, plan: Plan) -> Request:
    """SearchError says what is wrong with the words. Asks the repository which commits are meant."""
    family = spec_builds.family(plan, words.build)
    build = next(iter(family.builds.values()))
    good, bad = _release(words.good, family), _release(words.bad, family)
    commits = good is None or bad is None
    if good is None or bad is None:
        good, bad = _commits(words, family)
    claim = "" if words.claim is None else str(spec_builds.claim(plan, words.claim)["claim"])
    step = "" if claim else spec_builds.step(plan, family, words.step)
    metric = "" if claim else words.metric
    if metric:
        spec_builds.better(plan, metric)
    asked = words.spec, words.scale, words.only, words.sets
    return Request(*asked, family.name, build.version, commits, good, bad, step, metric, claim, words.by)


def candidates_of(request: Request, plan: Plan) -> list[Candidate]:
    """The good end first, the bad one last."""
    family = spec_builds.family(plan, request.family)
    if request.commits:
        return repository.candidates(next(iter(family.builds.values())), request.good, request.bad)
    versions = [build.version for build in family.builds.values()]
    first, last = versions.index(request.good), versions.index(request.bad)
    if first >= last:
        raise SearchError(
            f"`{request.good}` does not stand before `{request.bad}` in the spec: list old versions first"
        )
    return [Candidate(version, version) for version in versions[first : last + 1]]


def _release(given: str, family: Family) -> str | None:
    """A version that is given as such, or by the name of its build."""
    versions = {build.version for build in family.builds.values()}
    if given in family.builds:
        return family.builds[given].version
    return given if given in versions and len(versions) > 1 else None


def _commits(words: Words, family: Family) -> tuple[str, str]:
    name, build = next(iter(family.builds.items()))
    if repository.GIT not in build.source:
        raise SearchError(
            f"`{words.good}` and `{words.bad}` are not both versions of `{family.name}`, and its source is not git: "
            "name two of its `versions`"
        )
    if len(family.builds) > 1:
        raise SearchError(
            f"`{family.name}` has {len(family.builds)} versions, and commits declare one: name it, as `--build {name}`"
        )
    return repository.commit(build, words.good), repository.commit(build, words.bad)
