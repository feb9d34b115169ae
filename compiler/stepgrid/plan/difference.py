"""Differences between stages: what each is made of, field by field, old -> new, with values as a spec writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct

from stepgrid.language.sources import source_key, source_parts
from stepgrid.model.plan import (
    CLIENT,
    FILES,
    LINK,
    SERVICE,
    TIMEOUT,
    Plan,
    PlannedBuild,
    PlannedStage,
    PlannedStep,
    inner_map,
)
from stepgrid.model.records import Json, StepSetup, recipe_patches
from stepgrid.model.secret_variables import hide_secrets
from stepgrid.model.units import exact_size
from stepgrid.plugins.registry import reading_names

CHECKSUM_DIGITS = 12  # of a checksum


class Unset(Struct, frozen=True):
    """Absence of a value: another thing than null."""

    def __repr__(self) -> str:
        return "unset"


UNSET = Unset()


class ChangedInput(Struct, frozen=True):
    """A value that a stage is made of, as it was and as it is."""

    field: str  # options.cache_size, params.keys …
    old: Any
    new: Any
    where: str = ""  # of the new one: file:line:column


class Link(Struct, frozen=True):
    """A stage in its chain, with what its id takes in from outside."""

    stage: PlannedStage
    build: PlannedBuild
    clients: Mapping[str, PlannedBuild] = {}  # of its steps, by id

    @classmethod
    def of(cls, stage: PlannedStage, builds: Callable[[str], PlannedBuild]) -> Link:
        return cls(stage, builds(stage.build), {client: builds(client) for client in stage.clients})


def links_of(plan: Plan) -> Callable[[Sequence[str]], list[Link]]:
    """Return what reads a chain of a plan's stages."""
    stages, builds = {stage.id: stage for stage in plan.stages}, {build.id: build for build in plan.builds}
    return lambda chain: [Link.of(stages[node], builds.__getitem__) for node in chain]


def differences(old: Sequence[Link], new: Sequence[Link]) -> tuple[ChangedInput, ...]:
    """Compare two chains of stages, root first: each input once, though many steps may have it."""
    inputs: list[ChangedInput] = []
    if old and new:
        if old[0].build.id != new[0].build.id:
            inputs += _build_inputs("build", old[0].build, new[0].build)
        inputs += _value_inputs("hardware", old[0].stage.hardware, new[0].stage.hardware)
    for before, after in zip(old, new, strict=False):
        inputs += _stage_inputs(before, after)
    if len(old) != len(new):
        inputs.append(ChangedInput("checkpoints before it", len(old) - 1, len(new) - 1))
    distinct: dict[tuple[str, str, str], ChangedInput] = {}
    for entry in inputs:
        distinct.setdefault((entry.field, repr(entry.old), repr(entry.new)), entry)
    return tuple(distinct.values())


# Builds


def _build_inputs(name: str, old: PlannedBuild, new: PlannedBuild) -> list[ChangedInput]:
    # with nothing else that differs, another version of this program made the plan
    return [*_declared_inputs(name, old, new)] or [ChangedInput(name, old.id, new.id, new.where)]


def _declared_inputs(build: str, old: PlannedBuild, new: PlannedBuild) -> Iterator[ChangedInput]:
    where = new.where
    source = [*_map_inputs(f"{build}.source", _flat(old.source), _flat(new.source), where)]
    # another source has another pin, which tells nothing new
    pins = old.pins.keys() & new.pins.keys() if source else old.pins.keys() | new.pins.keys()
    sources = {source_key(part): part for build in (old, new) for part in source_parts(build.source)}
    yield from _value_inputs(f"{build}.engine", old.engine, new.engine, where)
    yield from _value_inputs(f"{build}.version", old.version, new.version, where)
    yield from source
    for name in sorted(pins):
        field = f"{build}.pin" if name in sources else f"{build}.pin.{name.removeprefix('system ')}"
        field = f"content of {name}" if "path" in sources.get(name, {}) else field
        yield from _value_inputs(field, _short_pin(old.pins.get(name)), _short_pin(new.pins.get(name)), where)
    yield from _value_inputs(f"{build}.patches", _patch_checksums(old), _patch_checksums(new), where)
    yield from _value_inputs(f"{build}.{LINK}", old.recipe.get(LINK, 1), new.recipe.get(LINK, 1), where)
    for name in ("extensions", "flags"):
        yield from _map_inputs(f"{build}.{name}", inner_map(old.recipe, name), inner_map(new.recipe, name), where)


def _short_pin(pin: str | None) -> Any:
    """Cut a checksum of contents; a commit stays whole, for it is looked up."""
    if pin is None:
        return UNSET
    return pin[:CHECKSUM_DIGITS] if re.fullmatch("[0-9a-f]{64}", pin) else pin


def _flat(source: Mapping[str, Json]) -> dict[str, Json]:
    """Name the values of a source within the source by keys such as `tree.ref`."""
    inner = {key: _flat(value) for key, value in source.items() if isinstance(value, Mapping)}
    parts = {f"{key}.{name}": value for key, values in inner.items() for name, value in values.items()}
    return {**{key: value for key, value in source.items() if key not in inner}, **parts}


def _patch_checksums(build: PlannedBuild) -> list[str]:
    return [patch.sha256[:CHECKSUM_DIGITS] for patch in recipe_patches(build.recipe)]


# Stages and steps


def _stage_inputs(old: Link, new: Link) -> Iterator[ChangedInput]:
    yield from _value_inputs("load", old.stage.load, new.stage.load)
    yield from _value_inputs("run", old.stage.run, new.stage.run)
    if [step.kind for step in old.stage.steps] != [step.kind for step in new.stage.steps]:
        names = [[step.name for step in link.stage.steps] for link in (old, new)]
        yield ChangedInput("steps", names[0], names[1])
        return
    for before, after in zip(old.stage.steps, new.stage.steps, strict=True):
        yield from _step_inputs(before, after)
        yield from _client_inputs(old.clients.get(before.client or ""), new.clients.get(after.client or ""))
        yield from _map_inputs("files", _file_checksums(before), _file_checksums(after))


def _step_inputs(old: PlannedStep, new: PlannedStep) -> Iterator[ChangedInput]:
    yield from _value_inputs(f"revision of {new.kind}", old.revision, new.revision)
    yield from _map_inputs("params", _settings(old), _settings(new))
    yield from _option_inputs(old, new)
    for name, before, after in setup_changes(old, new):
        yield from _value_inputs(name, before, after)
    # what a step does decides its seed: where that differs, the seed is no reason of its own
    if _settings(old) == _settings(new):
        yield from _value_inputs(f"{new.name}: seed", old.seed, new.seed)


def _settings(step: PlannedStep) -> Mapping[str, Json]:
    """Leave out the names of a client and of files, for which their contents decide, and what is only read."""
    omitted = {FILES, *([CLIENT] if step.client else []), *reading_names(step.kind)}
    return {name: value for name, value in step.settings.items() if name not in omitted}


def _option_inputs(old: PlannedStep, new: PlannedStep) -> Iterator[ChangedInput]:
    for name in sorted({*old.options, *new.options}):
        before, after = old.options.get(name), new.options.get(name)
        where = after.where if after else ""
        values = [UNSET if option is None else option.value for option in (before, after)]
        yield from _value_inputs(f"options.{name}", values[0], values[1], where)
        if before and after and (before.unsupported == "drop") != (after.unsupported == "drop"):
            policies = ["drop" if option.unsupported == "drop" else "error" for option in (before, after)]
            yield ChangedInput(f"options.{name}.when_unsupported", policies[0], policies[1], where)


def _client_inputs(old: PlannedBuild | None, new: PlannedBuild | None) -> Iterator[ChangedInput]:
    if old is not None and new is not None and old.id != new.id:
        yield from _build_inputs(CLIENT, old, new)
    elif (old is None) != (new is None):
        before, after = (UNSET if build is None else build.name for build in (old, new))
        yield from _value_inputs(CLIENT, before, after, "" if new is None else new.where)


def _file_checksums(step: PlannedStep) -> dict[str, str]:
    return {name: checksum[:CHECKSUM_DIGITS] for name, checksum in step.setup.files.items()}


def _map_inputs(
    prefix: str, old: Mapping[str, Json], new: Mapping[str, Json], where: str = ""
) -> Iterator[ChangedInput]:
    for name in sorted({*old, *new}):
        yield from _value_inputs(f"{prefix}.{name}", old.get(name, UNSET), new.get(name, UNSET), where)


def _value_inputs(field: str, old: Any, new: Any, where: str = "") -> Iterator[ChangedInput]:
    is_absent = [value is UNSET or value is None for value in (old, new)]
    # 1, 1.0 and true are equal in Python and different on a command line
    if not all(is_absent) and (type(old), old) != (type(new), new):
        yield ChangedInput(field, old, new, where)


# The setup of a step: launch, start, service, probes, collectors


def setup_changes(old: PlannedStep, new: PlannedStep) -> Iterator[tuple[str, Any, Any]]:
    """Yield each field of two setups with both values, and the order of probes and collectors where it differs."""
    before, after = setup_fields(old), setup_fields(new)
    for name in sorted({*before, *after}):
        yield name, before.get(name, UNSET), after.get(name, UNSET)
    for name, entries in (("probes", _probes), ("collectors", _collectors)):
        names = [list(entries(step.setup)) for step in (old, new)]
        if sorted(names[0]) == sorted(names[1]):  # else the fields say which came and went
            yield name, names[0], names[1]


def setup_fields(step: PlannedStep) -> dict[str, Json]:
    """List the setup of a step as flat fields, by the names that a spec gives them."""
    setup = step.setup
    values = {f"launch.{name}": value for name, value in setup.launch.to_json().items() if name != "env"}
    values |= {f"launch.env.{name}": value for name, value in hide_secrets(setup.launch.env).items()}
    if setup.start:
        values["start"] = setup.start
    if service := setup.service:
        words = {name: getattr(service, name) for name in ("argv", "option")}
        values |= {f"{SERVICE}.{name}": list(value) for name, value in words.items() if value}
        inner: dict[str, Mapping[str, Json]] = {"env": hide_secrets(service.env)}
        inner |= {name: getattr(service, name).to_json() for name in ("ready", "stop")}
        flat = ((part, name, value) for part, table in inner.items() for name, value in table.items())
        values |= {f"{SERVICE}.{part}.{name}": value for part, name, value in flat if name != TIMEOUT}
    if setup.storage_engine is not None and not step.settings.get("storage_engine"):
        values["params.storage_engine"] = setup.storage_engine
    if setup.storage_revision:
        values[f"revision of {setup.storage_engine}"] = setup.storage_revision
    for prefix, entries in (("probes", _probes(setup)), ("collectors", _collectors(setup))):
        flat = ((name, key, value) for name, entry in entries.items() for key, value in entry.items())
        values |= {f"{prefix}.{name}.{key}": value for name, key, value in flat if key != "name"}
    return values


def _probes(setup: StepSetup) -> dict[str, Mapping[str, Json]]:
    """Index the probes of a step by name, each with its time."""
    probes = {"before": setup.before, "after": setup.after}
    return {probe.name: {**probe.to_json(), "when": when} for when, timed in probes.items() for probe in timed}


def _collectors(setup: StepSetup) -> dict[str, Mapping[str, Json]]:
    return {str(entry.get("name") or entry.get("collector")): entry for entry in setup.collectors}


# Values as a spec would write them

_NO_SIZES = ("_micros", "_usec", "_us", "_ms", "_milliseconds", "_sec", "_seconds", "_count",
             "_deletes", "_deletes_window")  # of names of options  # fmt: skip
# no colon: in a list the loader takes none without quotes, `[0:0]`
_PLAIN = re.compile(r"(?![-?] |[%@])[\w./+%=@-]+(?: [\w./+%=@-]+)*")
_WORDS = frozenset({"null", "true", "false", ".inf", "+.inf", "-.inf", ".nan"})


def input_text(entry: ChangedInput) -> str:
    """options.cache_size: 8MiB -> 16MiB"""
    old, new = (value_text(value, may_be_size(entry.field)) for value in (entry.old, entry.new))
    return f"{entry.field}: {old} -> {new}"


def value_text(value: Any, sized: bool = True) -> str:
    """Write a value as a spec would; where it may be a size, a whole number gets its unit from 64 KiB on."""
    if value is UNSET:
        return "not set"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if sized and isinstance(value, int) and value >= 2**16:
        return exact_size(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(value_text(item, sized) for item in value)}]"
    if isinstance(value, Mapping):
        return yaml_text(value, sized)
    return f"{value:g}" if isinstance(value, float) else str(value)


def yaml_text(value: Any, sized: bool = False) -> str:
    """Write a value on one line as YAML; keys without a value are left out."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(yaml_text(item, sized) for item in value)}]"
    if isinstance(value, Mapping):
        parts = (f"{yaml_text(key)}: {yaml_text(part)}" for key, part in value.items() if part is not None)
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, str) and (not _PLAIN.fullmatch(value) or _needs_quotes(value)):
        return json.dumps(value, ensure_ascii=False)
    return value_text(value, sized)


def _needs_quotes(word: str) -> bool:
    """Tell words that YAML reads as null, a truth value, or a number in another way than it is written: `0x10`."""
    if word.lower() in _WORDS:
        return True
    for number in (partial(int, base=0), float):
        with suppress(ValueError):
            return str(number(word)) != word
    return False


def may_be_size(field: str) -> bool:
    """Tell fields that may be sizes: options, and settings that say so, for most settings are counts."""
    if field.startswith("options."):
        return not field.endswith(_NO_SIZES)
    return field.endswith(("_rate", "_size", "memory"))
