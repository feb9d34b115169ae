"""Requested engine options against what the build's binary says it knows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stepgrid.host.failure import StageError, UnsupportedError
from stepgrid.model.plan import Option, PlannedStage, PlannedStep, Value
from stepgrid.plan import plan_file
from stepgrid.plan.checks import describe_option
from stepgrid.plugins import registry
from stepgrid.plugins.engine import option_fault
from stepgrid.run.job_context import Job

Catalogue = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AcceptedOptions:
    """The options that a step runs with, and those that were left out because the binary lacks them."""

    options: Mapping[str, Value]
    dropped: tuple[str, ...] = ()


def check(job: Job, stage: PlannedStage) -> list[AcceptedOptions]:
    """One per step. A build without a catalogue is not checked: what it knows cannot be told."""
    catalogue = _catalogue(job, stage.build)
    for step in stage.steps:
        if faults := [*_faults(job, step, catalogue)]:
            raise StageError("; ".join(faults), step.name)
    return [_accept(job, step, catalogue) for step in stage.steps]


def check_later(job: Job) -> None:
    """Of the stages after this one that lack a result: what is known to be wrong with them must not cost a load."""
    if faults := [*dict.fromkeys(_later(job, job.stage, _catalogue(job, job.stage.build)))]:
        raise StageError(f"stages that start from it would fail: {'; '.join(faults)}")


def _later(job: Job, stage: PlannedStage, catalogue: Catalogue | None) -> Iterator[str]:
    for child in stage.children if catalogue is not None else ():
        if job.store.result(child) is None:
            later = plan_file.stage(job.store.plan(job.plan), child)
            yield from (fault for step in later.steps for fault in _faults(job, step, catalogue))
            yield from _later(job, later, catalogue)


def _faults(job: Job, step: PlannedStep, catalogue: Catalogue | None) -> Iterator[str]:
    """Of each of its options."""
    for name in step.options:
        try:
            _accept(job, replace(step, options={name: step.options[name]}), catalogue)
        except StageError as fault:
            yield fault.message
        except UnsupportedError:
            pass  # its stage says so


def _accept(job: Job, step: PlannedStep, catalogue: Catalogue | None) -> AcceptedOptions:
    known = {name: describe_option(job.build.engine, name, catalogue) for name in step.options}
    lacking = [name for name, info in known.items() if info is None]
    for name in lacking:
        if step.options[name].unsupported != "drop":
            _refuse(job, step, name, step.options[name], catalogue or {})
    for name, info in known.items():
        _refuse_value(job, step, name, step.options[name], info or {})
    kept = {name: option.value for name, option in step.options.items() if name not in lacking}
    return AcceptedOptions(kept, tuple(lacking))


def _refuse(job: Job, step: PlannedStep, name: str, option: Option, catalogue: Catalogue) -> None:
    lacks = f"{job.build.name} has no option {name}"
    if option.unsupported == "cell" and _may_exist_elsewhere(job, name):
        raise UnsupportedError(lacks)
    prefix = f"{option.where}: " if option.where else ""
    raise StageError(f"{prefix}{lacks}{_advice(option, _nearest(name, catalogue))}", step.name)


def _refuse_value(job: Job, step: PlannedStep, name: str, option: Option, info: Mapping[str, Any]) -> None:
    """A slip such as 64MB, which some programs take for 64, others for nothing, and others not at all."""
    if said := option_fault(registry.engine(job.build.engine), info, option.value):
        prefix = f"{option.where}: " if option.where else ""
        raise StageError(f"{prefix}{name} {said}", step.name)


def _may_exist_elsewhere(job: Job, name: str) -> bool:
    """Whether another build knows it, or could: one that is still to be made leaves the question open.

    When the last of them is there, a misspelt name is an error in every stage that runs then; the results recorded as
    unsupported before do no harm, since the corrected spelling makes another stage.
    """
    others = [build.id for build in job.header.builds if build.engine == job.build.engine]
    others.remove(job.build.id)
    return any(_knows(job, build, name) for build in others)


def _knows(job: Job, build: str, name: str) -> bool:
    catalogue = _catalogue(job, build)
    if catalogue is not None:
        return describe_option(job.build.engine, name, catalogue) is not None
    return not job.store.has_build(build) and not _failed(job, build)


def _failed(job: Job, build: str) -> bool:
    return any((attempt / "failure.json").exists() for attempt in job.store.attempts(build))


def _catalogue(job: Job, build: str) -> Catalogue | None:
    path = job.store.build(build) / "catalogue.json"
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        raise StageError(f"{path} is damaged; remove {path.parent} and run the same command again") from None
    return found


def _nearest(name: str, catalogue: Catalogue) -> str:
    from difflib import get_close_matches

    return "".join(f"; did you mean {match}?" for match in get_close_matches(name, sorted(catalogue), 1))


def _advice(option: Option, nearest: str) -> str:
    if option.unsupported == "cell":
        return f", nor has any other build of this plan{nearest}"
    return f"{nearest}; where only some builds have it, say `when_unsupported: drop` or put it on a point of an axis"
