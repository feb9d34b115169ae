"""Engine options of a step against the options that the build's binary has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from stepgrid.host.failure import StageError, UnsupportedError
from stepgrid.host.files import load_record
from stepgrid.model.plan import PlannedStage, PlannedStep, Value
from stepgrid.model.records import Catalogue, OptionInfo, replace
from stepgrid.plan.checks import describe_option
from stepgrid.plugins import registry
from stepgrid.plugins.driver import absolute_inputs
from stepgrid.plugins.engine import option_fault
from stepgrid.run.attempt import Job
from stepgrid.store.paths import CATALOGUE_FILE, FAILURE_FILE


class AcceptedOptions(Struct, frozen=True):
    """The options that a step runs with, and those that were left out because the binary lacks them."""

    options: Mapping[str, Value]
    dropped: tuple[str, ...] = ()


def check(job: Job, stage: PlannedStage) -> list[AcceptedOptions]:
    """Check the options of each step. A build without a catalogue accepts all: its options are unknown."""
    catalogue = _read_catalogue(job, stage.build)
    for step in stage.steps:
        if faults := [*_faults(job, step, catalogue)]:
            raise StageError("; ".join(faults), step.name)
    return [_accept(job, step, catalogue) for step in stage.steps]


def check_later(job: Job) -> None:
    """Check the stages after this one that lack a result, so that a mistake in their options costs no load."""
    if faults := [*dict.fromkeys(_later_faults(job, job.stage, _read_catalogue(job, job.stage.build)))]:
        raise StageError(f"stages that start from it would fail: {'; '.join(faults)}")


def _later_faults(job: Job, stage: PlannedStage, catalogue: Catalogue | None) -> Iterator[str]:
    for child in stage.children if catalogue is not None else ():
        if job.store.result(child) is None:
            later = job.stages[child]
            yield from (fault for step in later.steps for fault in _faults(job, step, catalogue))
            yield from _later_faults(job, later, catalogue)


def _faults(job: Job, step: PlannedStep, catalogue: Catalogue | None) -> Iterator[str]:
    """Check each option by itself."""
    for name in step.options:
        try:
            _accept(job, replace(step, options={name: step.options[name]}), catalogue)
        except StageError as fault:
            yield fault.message
        except UnsupportedError:
            pass  # its stage says so


def _accept(job: Job, step: PlannedStep, catalogue: Catalogue | None) -> AcceptedOptions:
    accepted, inputs = dict[str, Value](), absolute_inputs(step.setup)  # programs run in other folders than the spec's
    for name, option in step.options.items():
        info = describe_option(job.build.engine, name, catalogue)
        if info is None and option.unsupported == "drop":
            continue
        prefix = f"{option.where}: " if option.where else ""
        if info is None:
            raise _lack(job, step, name, prefix, catalogue or {})
        # a slip such as 64MB, which some programs take for 64, others for nothing, and others not at all
        if fault := option_fault(registry.engine(job.build.engine), info, option.value):
            raise StageError(f"{prefix}{name} {fault}", step.name)
        accepted[name] = inputs.get(str(option.value), option.value)
    return AcceptedOptions(accepted, tuple(name for name in step.options if name not in accepted))


def _lack(job: Job, step: PlannedStep, name: str, prefix: str, catalogue: Catalogue) -> StageError | UnsupportedError:
    """Refuse an option that the binary lacks."""
    from difflib import get_close_matches

    message = f"{job.build.name} has no option {name}"
    is_for_cell = step.options[name].unsupported == "cell"
    if is_for_cell and _may_exist_elsewhere(job, name):
        return UnsupportedError(message)
    nearest = "".join(f"; did you mean {match}?" for match in get_close_matches(name, sorted(catalogue), 1))
    hint = "; where only some builds have it, say `when_unsupported: drop` or put it on a point of an axis"
    advice = f", nor has any other build of this plan{nearest}" if is_for_cell else f"{nearest}{hint}"
    return StageError(f"{prefix}{message}{advice}", step.name)


def _may_exist_elsewhere(job: Job, name: str) -> bool:
    """Look for the option in other builds; one that is still to be made leaves the question open.

    When the last of them is there, a misspelt name is an error in every stage that runs then; the results recorded as
    unsupported before do no harm, since the corrected spelling makes another stage.
    """
    for build in job.whole_plan.builds:
        if build.engine != job.build.engine or build.id == job.build.id:
            continue
        catalogue = _read_catalogue(job, build.id)
        if catalogue is not None:
            if describe_option(job.build.engine, name, catalogue) is not None:
                return True
        elif not job.store.has_build(build.id):
            attempts = job.store.attempts(build.id)
            if not any((attempt / FAILURE_FILE).exists() for attempt in attempts):
                return True
    return False


def _read_catalogue(job: Job, build: str) -> Catalogue | None:
    path = job.store.build(build) / CATALOGUE_FILE
    try:
        return load_record(path, dict[str, OptionInfo])
    except FileNotFoundError:
        return None
    except ValueError:
        raise StageError(f"{path} is damaged; remove {path.parent} and run the same command again") from None
