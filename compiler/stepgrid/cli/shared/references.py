"""What specs need of a store: those that are given, and those that its plans were made of, wherever they lie."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from stepgrid.errors import StepgridError
from stepgrid.language.problems import Location, Problem, Problems, SpecError
from stepgrid.model.plan import Plan, imported
from stepgrid.model.units import counted
from stepgrid.plan import identity
from stepgrid.plan.compilation import scales
from stepgrid.plan.files import plan_file
from stepgrid.plan.files.integrity import DAMAGED
from stepgrid.store import plans
from stepgrid.store.plans import StoredPlan
from stepgrid.store.store import Store
from stepgrid.store.unreferenced import NeededNames
from stepgrid.workflow import host_plan
from stepgrid.workflow.plan_cache import Kept, Request, requests


class UnreadablePlan(StepgridError):
    """A stored plan whose stages are not known: a sentence."""


@dataclass(slots=True)
class References:
    specs: list[str] = field(default_factory=list)  # that could be compiled
    wrong: dict[str, Sequence[Problem]] = field(default_factory=dict)  # specs that could not
    kept: list[str] = field(default_factory=list)  # sentences: which results stay though no spec is known to need them
    plans: set[str] = field(default_factory=set)
    builds: set[str] = field(default_factory=set)
    stages: set[str] = field(default_factory=set)
    shapes: set[str] = field(default_factory=set)

    @property
    def needed(self) -> NeededNames:
        return NeededNames(self.plans, self.builds, self.stages, self.shapes)

    def add(self, plan: Plan) -> None:
        from stepgrid.run.images.disk_space import shapes

        self.plans.add(plan.digest)
        self.builds.update(build.id for build in plan.builds)
        self.stages.update(stage.id for stage in plan.stages)
        self.shapes.update(shapes(plan))

    def add_stored(self, plan: StoredPlan) -> None:
        """All of it, whatever its spec says by now."""
        try:
            self.stages.update(plan_file.ids(plan.folder))
            self.builds.update(plan_file.builds(plan.folder))
        except DAMAGED:
            raise _unreadable(plan) from None
        self.plans.add(plan.digest)
        with suppress(*DAMAGED):  # of another version: what is learnt is a cache
            self.add(plan_file.read(plan.folder))


def references(store: Store, given: Sequence[str], forgotten: Collection[str] = ()) -> References:
    """`given`: specs that count even if no plan of them is stored. `forgotten`: specs and plans that do not count."""
    return _Search(store, given, frozenset(forgotten)).references()


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class _Search:
    store: Store
    given: Sequence[str]
    forgotten: frozenset[str]

    def references(self) -> References:
        found = References()
        for plan in self._whole:
            found.add_stored(plan)
        own = [plan for plan in self._stored if plan not in self._whole]
        asked = [kept.request.spec for kept in self._asked if kept.request]
        for spec in dict.fromkeys([*self.given, *(plan.spec for plan in own), *asked]):
            self._add(found, spec, [plan for plan in own if plan.spec == spec])
        # of each the last: the next search must find the spec by it
        found.plans.update({(plan.spec, plan.scale): plan.digest for plan in self._stored}.values())
        found.plans.update(kept.plan for kept in self._asked)
        return found

    @cached_property
    def _stored(self) -> list[StoredPlan]:
        """In the order in which they were made."""
        listed = sorted(plans.stored(self.store), key=lambda plan: plan.made)
        return [plan for plan in listed if self.forgotten.isdisjoint((plan.spec, plan.digest))]

    @cached_property
    def _asked(self) -> list[Kept]:
        listed = [kept for kept in requests(self.store) if kept.plan not in self.forgotten]
        return [kept for kept in listed if kept.request is None or kept.request.spec not in self.forgotten]

    @cached_property
    def _whole(self) -> list[StoredPlan]:
        """Plans that no spec here stands for: of results that were imported, damaged, or made nobody knows how."""
        untold = {kept.plan: kept.key for kept in self._asked if kept.request is None}
        return [plan for plan in self._stored if self._is_whole(plan, untold.get(plan.digest))]

    def _is_whole(self, plan: StoredPlan, key: str | None) -> bool:
        narrowed = key is not None and key != Request(plan.spec, plan.scale).key
        return narrowed or not plan.spec or imported(plan.spec) or self.store.texts(plan.digest).is_dir()

    def _add(self, found: References, spec: str, own: Sequence[StoredPlan]) -> None:
        compiled: list[Plan] = []
        for kept in self._requests(spec):
            try:
                compiled.append(_compiled(kept.request or Request(spec)))
            except SpecError as error:
                self._keep(found, own, kept, error.problems)
                return
        for plan in compiled:
            found.add(plan)
        found.specs.append(spec)
        self._add_elsewhere(found, spec, own, {machine for plan in compiled for machine in plan.machines})

    def _keep(self, found: References, own: Sequence[StoredPlan], kept: Kept, problems: Sequence[Problem]) -> None:
        spec = kept.request.spec if kept.request else ""
        found.wrong[spec] = problems
        for plan in own:
            found.add_stored(plan)
        number = counted(len(own), "stored plan") if len(own) > 1 else "stored plan"
        stay = f"all results of its {number} stay" if own else "no plan of it is stored"
        forget = f"; `stepgrid gc --forget {shlex.quote(kept.plan or spec)}` goes on without it" if own else ""
        found.kept.append(f"{_why(kept, problems)}; {stay}{forget}")

    def _requests(self, spec: str) -> Iterator[Kept]:
        """The spec with all its scales, and what it was narrowed to."""
        known = scales(spec) if Path(spec).is_file() else []
        yield from (Kept("", "", Request(spec, scale)) for scale in (None, *known))
        for kept in self._asked:
            request = kept.request
            if request and request.spec == spec and (request.only or request.sets) and request.scale in (None, *known):
                yield kept

    def _add_elsewhere(
        self, found: References, spec: str, own: Sequence[StoredPlan], machines: Collection[str]
    ) -> None:
        """What other machines measured: compiled there, the spec needs it."""
        known = {*machines, self._machine}
        for plan in own:
            others = {name for name, facts in plan.machines.items() if not facts.get("declared") and name not in known}
            stages = [stage["id"] for stage in _stages(plan) if stage["hardware"] in others] if others else []
            if not found.stages.issuperset(stages):
                found.add_stored(plan)
                names = ", ".join(sorted(others))
                found.kept.append(f"{plan.folder} of {spec} is about another machine ({names}); all its results stay")

    @cached_property
    def _machine(self) -> str:
        return identity.hardware_id(host_plan.host(self.store))


def _compiled(request: Request) -> Plan:
    path = Path(request.spec)
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe, which would wait for its writer
        raise SpecError([Problem("file-not-found", Location(request.spec, 1, 1), f"`{request.spec}` is not a file")])
    return host_plan.compiled(request.spec, request.scale, Problems(), request.only, request.sets)


def _stages(plan: StoredPlan) -> Sequence[Mapping[str, Any]]:
    try:
        listed: Sequence[Mapping[str, Any]] = plan_file.read_header(plan.folder)["stages"]
    except DAMAGED:
        raise _unreadable(plan) from None
    return listed


def _unreadable(plan: StoredPlan) -> UnreadablePlan:
    return UnreadablePlan(
        f"{plan.folder} cannot be read, so nobody knows which results it needs: nothing was moved; "
        f"`stepgrid gc --forget {plan.digest}` goes on without it"
    )


def _why(kept: Kept, problems: Sequence[Problem]) -> str:
    """my.yaml with --only 'x == 1' cannot be compiled: … (2 more errors)"""
    errors = [problem for problem in problems if problem.severity == "error"]
    request = kept.request or Request("")
    given = [
        *(["--only", request.only] if request.only else []),
        *(w for each in request.sets for w in ("--set", each)),
    ]
    named = " ".join([request.spec, *(["with", shlex.join(given)] if given else [])])
    more = f" ({counted(len(errors) - 1, 'more error')})" if len(errors) > 1 else ""
    return f"{named} cannot be compiled: {errors[0].message}{more}"
