"""Requested engine options against the catalogues of the builds that are there: names and values. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from stepgrid.language.problems import Location, Problem
from stepgrid.model.plan import Option, Options, Plan, PlannedBuild, PlannedStage
from stepgrid.plugins import registry
from stepgrid.plugins.engine import Choices, Spelling, option_fault
from stepgrid.plugins.registry import engine

Catalogue: TypeAlias = Mapping[str, Any]
Catalogues: TypeAlias = Mapping[str, Catalogue | None]  # build -> its options; None: it cannot be told
ALIKE = 0.85  # of two names: one is probably a slip of the other


def described(kind: str, name: str, catalogue: Catalogue | None) -> Mapping[str, Any] | None:
    """What is known of an option's value; None where the binary lacks it. `kind`: the engine."""
    if catalogue is None:
        return {}
    known = engine(kind)
    info = catalogue[name] or {} if name in catalogue else None
    if info is None and isinstance(known, Spelling):
        info = known.spelled_option(name, catalogue)
    if info is not None and isinstance(known, Choices) and name in known.choices:
        return {**info, "type": "enum", "choices": known.choices[name]}
    return info


def problems(
    plan: Plan,
    catalogues: Catalogues,
    measured: Callable[[], Collection[str]],
    releases: Mapping[str, Catalogue] | None = None,
) -> list[Problem]:
    """Of the stages whose binary has not taken their options yet. `measured`: those that it has.

    `releases`: engine -> options of other builds; what they say of a build without a catalogue is a warning."""
    found = list(_Check(plan, catalogues, releases or {}).faults())
    done = measured() if found else ()
    certain = {(fault.code, fault.option.where) for fault in found if fault.certain}
    grouped: dict[tuple[str, str], list[Fault]] = {}
    for fault in found:
        if not fault.stages <= set(done) and (fault.certain or (fault.code, fault.option.where) not in certain):
            grouped.setdefault((fault.option.where, fault.message), []).append(fault)
    return sorted((_problem(faults, plan.spec) for faults in grouped.values()), key=lambda problem: problem.where)


@dataclass(frozen=True, slots=True)
class Fault:
    code: str
    name: str
    option: Option
    message: str  # without the builds
    hint: str
    build: PlannedBuild
    certain: bool = True  # the build's own catalogue says it
    stages: set[str] = field(default_factory=set)


class _Check:
    def __init__(self, plan: Plan, catalogues: Catalogues, releases: Mapping[str, Catalogue]) -> None:
        self._plan, self._catalogues, self._releases = plan, catalogues, releases
        self._builds = {build.id: build for build in plan.builds}

    def faults(self) -> Iterator[Fault]:
        """One for each build and option as it is asked for, with the stages that ask."""
        known: dict[tuple[str, int], list[Fault]] = {}  # the plan holds the parts, so an id() stays its own
        for stage in self._plan.stages:
            check = self._probable if self._catalogues.get(stage.build) is None else self._of_part
            for part in _parts(stage):
                key = (stage.build, id(part))
                if key not in known:
                    known[key] = list(check(self._builds[stage.build], part))
                for fault in known[key]:
                    fault.stages.add(stage.id)
        for faults in known.values():
            yield from faults

    def _of_part(self, build: PlannedBuild, part: Mapping[str, Option]) -> Iterator[Fault]:
        for name, option in part.items():
            info = described(build.engine, name, self._catalogues[build.id])
            if info is None:
                if option.unsupported != "drop" and not (option.unsupported == "cell" and self._elsewhere(build, name)):
                    yield Fault("unknown-option", name, option, f"no option `{name}`", self._hint(build, name), build)
            elif said := option_fault(registry.engine(build.engine), info, option.value):
                said, _, hint = said.partition("; ")
                yield Fault("wrong-option", name, option, f"`{name}` {said}", hint, build)

    def _probable(self, build: PlannedBuild, part: Mapping[str, Option]) -> Iterator[Fault]:
        """A name that no release has may be that of a patch or a fork: one that is nearly another's is a slip."""
        catalogue = self._releases.get(build.engine) or {}
        for name, option in part.items() if catalogue else ():
            info = described(build.engine, name, catalogue)
            if info is None and option.unsupported != "drop":
                close = get_close_matches(name, catalogue, 1, ALIKE)
                for other in close:
                    message, hint = f"`{name}` is probably no option of {build.engine}", f"did you mean `{other}`?"
                    yield Fault("unknown-option", name, option, message, hint, build, certain=False)
                info = described(build.engine, close[0], catalogue) if close else None
            if info and (message := option_fault(registry.engine(build.engine), info, option.value) or ""):
                message, _, hint = message.partition("; ")
                yield Fault("wrong-option", name, option, f"`{name}` {message}", hint, build, certain=False)

    def _elsewhere(self, build: PlannedBuild, name: str) -> bool:
        """Whether another build knows it, or may: one that is still to be made leaves the question open."""
        others = [each.id for each in self._builds.values() if each.engine == build.engine and each.id != build.id]
        return any(described(build.engine, name, self._catalogues.get(each)) is not None for each in others)

    def _hint(self, build: PlannedBuild, name: str) -> str:
        alike = {each.engine: each for each in self._builds.values() if name in (self._catalogues.get(each.id) or ())}
        if build.engine in alike:
            known = alike[build.engine].name
            return f"{known} has it: say `when_unsupported: drop`, or put it on a point of an axis"
        if alike:
            kind = next(iter(alike))
            return f"it is an option of {kind}: write `{{engine: {kind}, options: {{{name}: …}}}}`"
        near = get_close_matches(name, sorted(self._catalogues[build.id] or ()), 1)
        return f"did you mean `{near[0]}`?" if near else ""


def _parts(stage: PlannedStage) -> Iterator[Mapping[str, Option]]:
    for step in stage.steps:
        yield from step.options.parts if isinstance(step.options, Options) else (step.options,)


def _problem(faults: list[Fault], spec: str) -> Problem:
    first = faults[0]
    message = first.message
    if first.certain and first.code == "unknown-option":
        names = sorted({fault.build.name for fault in faults})
        shown = names if len(names) < 4 else [*names[:3], f"{len(names) - 3} other builds"]
        listed = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
        message = f"{listed} {'have' if len(names) > 1 else 'has'} {message}"
    where = Location.read(first.option.where) if first.option.where else Location(spec, 1, 1)
    severity: Literal["error", "warning"] = "error" if first.certain else "warning"
    return Problem(first.code, where, message, first.hint, severity, len(first.name))
