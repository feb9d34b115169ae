"""Content ids of builds, stages and machines, and the seeds of steps.

No id has titles, labels, comments, the order of keys or axes, the report, paths, or how many repeats there are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from stepgrid.model.plan import (
    BUILD_PREFIX,
    CLIENT,
    FILES,
    STAGE_PREFIX,
    Json,
    Options,
    PlannedStep,
    encode,
    quoted,
)
from stepgrid.model.records import StepSetup, replace
from stepgrid.plugins.registry import client_engine, input_files, reading_names

if TYPE_CHECKING:
    from pydantic import BaseModel

PRICE = "price"  # of a machine, per hour: it decides no result
DESCRIBED = "described"  # of a machine: those that it stands in for, by id
LENGTH = 20  # hexadecimal digits: 80 bits
_COMMIT = re.compile("[0-9a-f]{40}")
_SEED_BITS = 0x7FFFFFFF


def digest(value: object) -> str:
    return text_digest(encode(value))


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def build_id(
    engine: str, version: str, source: Mapping[str, Json], pin: str, recipe: Mapping[str, Json] | None = None
) -> str:
    """Identify a build. `pin` holds still what moves: content of a system's binary or a tree, commit, patches."""
    return BUILD_PREFIX + digest([engine, version, _placeless(source), pin, *([dict(recipe)] if recipe else [])])


def _placeless(source: Mapping[str, Json]) -> dict[str, Json]:
    """Leave out where a local tree or repository lies and which files were chosen: contents and commits identify it."""
    values = {key: _placeless(value) if isinstance(value, Mapping) else value for key, value in source.items()}
    if str(values.get("git", "")).startswith("file:") and _COMMIT.fullmatch(str(values.get("ref", ""))):
        values["git"] = ""
    if "path" in values:
        values.pop("files", None)
        values["path"] = ""
    return values


def hardware_id(facts: Mapping[str, Json]) -> str:
    explicit = facts.get("id")
    return str(explicit) if explicit else "h-" + digest({name: facts[name] for name in facts if name != PRICE})


def machine(facts: Mapping[str, Json]) -> dict[str, Json]:
    """Add the id that stages have. A host that stands in for another machine is itself, and names the other."""
    values = {name: value for name, value in facts.items() if name not in ("declared", "real")}
    real = facts.get("real")
    if not isinstance(real, Mapping):
        return {**facts, "id": hardware_id(values)}
    return {**real, "id": hardware_id(real), "declared": False, DESCRIBED: {hardware_id(values): values}}


def step_texts(step: PlannedStep, settings: BaseModel) -> tuple[str, str]:
    """Write everything that decides what a step runs, but its seed, without and with what is read of its output.

    Neither has the driver's defaults. `settings`: the driver's model of those of the step."""
    options = step.options if isinstance(step.options, Options) else Options([step.options])
    setup = _setup_text(step.setup)
    ending = f",{options.text}{f',{setup}' if setup else ''}{f',{quoted(step.client)}' if step.client else ''}]"
    omitted = {CLIENT} if client_engine(step.kind) else set()  # a label: its build is what decides
    omitted |= {FILES} if input_files(step.kind) else set()  # names: what is in the files decides
    values = settings.model_dump(mode="json", exclude_defaults=True, exclude=omitted)
    executed = {name: value for name, value in values.items() if name not in reading_names(step.kind)}
    beginning = f"[{quoted(step.kind)},{step.revision},"
    return f"{beginning}{encode(executed)}{ending}", f"{beginning}{encode(values)}{ending}"


def _setup_text(setup: StepSetup) -> str:
    """Leave out the paths of files, whose checksums are there, and how long somebody waits for a service."""
    service = setup.service
    if service is not None:
        ready, stop = (replace(request, timeout=None) for request in (service.ready, service.stop))
        service = replace(service, ready=ready, stop=stop)
    values = replace(setup, service=service, inputs={}, named={}, client=None).to_json()
    return encode(values) if values else ""


def stage_id(root: Sequence[str], parent: str | None, steps: Iterable[tuple[str, int]], load: int, run: int) -> str:
    """Identify a stage. `root` is build and hardware; `steps` are identities and seeds. Index 0 adds nothing."""
    origin = encode(list(root)) if parent is None else quoted(parent)
    seeded = ",".join([f"[{step},{seed}]" for step, seed in steps])
    indices = ",".join([f'["{name}",{index}]' for name, index in (("load", load), ("run", run)) if index])
    return STAGE_PREFIX + text_digest(f"[{origin},[{seeded}],[{indices}]]")


def seed(spec_seed: int, load: int, run: int, kind: str, occurrence: int) -> int:
    """Derive a seed: the same in every arm of a comparison, never the same twice within a run.

    It is never 0, which means "by the clock". `kind`: what the step does."""
    text = f"{spec_seed}/{load}/{run}/{kind}/{occurrence}"
    return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") & _SEED_BITS) or 1
