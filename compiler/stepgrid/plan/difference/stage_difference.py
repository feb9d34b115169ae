"""What makes one stage another than one that was measured: field by field, old -> new. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepgrid.language.sources import source_key, source_parts
from stepgrid.model.plan import CLIENT, FILES, PlannedBuild, PlannedStage, PlannedStep
from stepgrid.plan.difference.setup_difference import changed
from stepgrid.plan.difference.unset import UNSET

_DIGITS = 12  # of a checksum


@dataclass(frozen=True, slots=True)
class Input:
    """One thing that a stage is made of, as it was and as it is."""

    field: str  # options.cache_size, params.keys …
    old: Any
    new: Any
    where: str = ""  # of the new one: file:line:column


@dataclass(frozen=True, slots=True)
class Link:
    """A stage with what its id takes in from outside."""

    stage: PlannedStage
    build: PlannedBuild
    clients: Mapping[str, PlannedBuild] = field(default_factory=dict)  # of its steps, by id

    @classmethod
    def of(cls, stage: PlannedStage, builds: Callable[[str], PlannedBuild]) -> Link:
        return cls(stage, builds(stage.build), {client: builds(client) for client in stage.clients})


def differences(old: Sequence[Link], new: Sequence[Link]) -> tuple[Input, ...]:
    """Between two chains of stages, root first: each input once, though many steps may have it."""
    found = [*_roots(old[0], new[0])] if old and new else []
    for one, other in zip(old, new, strict=False):
        found += _stages(one, other)
    if len(old) != len(new):
        found.append(Input("checkpoints before it", len(old) - 1, len(new) - 1))
    return _once(found)


def _roots(old: Link, new: Link) -> Iterator[Input]:
    if old.build.id != new.build.id:
        yield from _builds("build", old.build, new.build)
    yield from _value("hardware", old.stage.hardware, new.stage.hardware, "")


def _builds(name: str, old: PlannedBuild, new: PlannedBuild) -> list[Input]:
    # with nothing else that differs, another version of this program made the plan
    return [*_declared(name, old, new)] or [Input(name, old.id, new.id, new.where)]


def _declared(build: str, old: PlannedBuild, new: PlannedBuild) -> Iterator[Input]:
    where = new.where
    source = [*_map(f"{build}.source", _flat(old.source), _flat(new.source), where)]
    # another source has another pin, which says no more
    held = old.pins.keys() & new.pins.keys() if source else old.pins.keys() | new.pins.keys()
    first = {source_key(part) for build in (old, new) for part in source_parts(build.source)}
    yield from _value(f"{build}.engine", old.engine, new.engine, where)
    yield from _value(f"{build}.version", old.version, new.version, where)
    yield from source
    for name in sorted(held):
        field = f"{build}.pin" if name in first else f"{build}.pin.{name.removeprefix('system ')}"
        yield from _value(field, old.pins.get(name, UNSET), new.pins.get(name, UNSET), where)
    yield from _value(f"{build}.patches", _patches(old), _patches(new), where)
    for name in ("extensions", "flags"):
        yield from _map(f"{build}.{name}", _recipe(old, name), _recipe(new, name), where)


def _flat(source: Mapping[str, Any]) -> dict[str, Any]:
    """A source within the source by keys such as `tree.ref`."""
    inner = {key: _flat(value) for key, value in source.items() if isinstance(value, Mapping)}
    parts = {f"{key}.{name}": value for key, found in inner.items() for name, value in found.items()}
    return {**{key: value for key, value in source.items() if key not in inner}, **parts}


def _recipe(build: PlannedBuild, name: str) -> Mapping[str, Any]:
    found = build.recipe.get(name)
    return found if isinstance(found, Mapping) else {}


def _patches(build: PlannedBuild) -> list[str]:
    """By their contents."""
    listed = build.recipe.get("patches")
    return (
        [str(patch["sha256"])[:_DIGITS] for patch in listed if isinstance(patch, Mapping)]
        if isinstance(listed, list)
        else []
    )


def _stages(old: Link, new: Link) -> Iterator[Input]:
    yield from _value("load", old.stage.load, new.stage.load, "")
    yield from _value("run", old.stage.run, new.stage.run, "")
    if [step.kind for step in old.stage.steps] != [step.kind for step in new.stage.steps]:
        yield Input("steps", _names(old.stage), _names(new.stage))
        return
    for one, other in zip(old.stage.steps, new.stage.steps, strict=True):
        yield from _steps(one, other)
        yield from _clients(old.clients.get(one.client or ""), new.clients.get(other.client or ""))
        yield from _map("files", _files(one), _files(other), "")


def _clients(old: PlannedBuild | None, new: PlannedBuild | None) -> Iterator[Input]:
    if old is not None and new is not None and old.id != new.id:
        yield from _builds(CLIENT, old, new)
    elif (old is None) != (new is None):
        before, after = (UNSET if build is None else build.name for build in (old, new))
        yield from _value(CLIENT, before, after, "" if new is None else new.where)


def _files(step: PlannedStep) -> dict[str, str]:
    """By their contents."""
    found = step.setup.get(FILES)
    return {name: str(checksum)[:_DIGITS] for name, checksum in found.items()} if isinstance(found, Mapping) else {}


def _steps(old: PlannedStep, new: PlannedStep) -> Iterator[Input]:
    yield from _value(f"revision of {new.kind}", old.revision, new.revision, "")
    yield from _map("params", _settings(old), _settings(new), "")
    yield from _options(old, new)
    for name, before, after in changed(old, new):
        yield from _value(name, before, after, "")
    # what is done decides the seed: where that differs, the seed is no reason of its own
    if old.settings == new.settings:
        yield from _value(f"{new.name}: seed", old.seed, new.seed, "")


def _settings(step: PlannedStep) -> Mapping[str, Any]:
    """Without names whose meaning decides: of a client, of files."""
    labels = {FILES, CLIENT} if step.client else {FILES}
    return {name: value for name, value in step.settings.items() if name not in labels}


def _options(old: PlannedStep, new: PlannedStep) -> Iterator[Input]:
    for name in sorted({*old.options, *new.options}):
        before, after = old.options.get(name), new.options.get(name)
        where = after.where if after else ""
        one, other = (UNSET if option is None else option.value for option in (before, after))
        yield from _value(f"options.{name}", one, other, where)
        if before and after and (before.unsupported == "drop") != (after.unsupported == "drop"):
            drops, dropped = ("drop" if option.unsupported == "drop" else "error" for option in (before, after))
            yield Input(f"options.{name}.when_unsupported", drops, dropped, where)


def _map(prefix: str, old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> Iterator[Input]:
    for name in sorted({*old, *new}):
        yield from _value(f"{prefix}.{name}", old.get(name, UNSET), new.get(name, UNSET), where)


def _value(field: str, old: Any, new: Any, where: str) -> Iterator[Input]:
    # 1, 1.0 and true are equal in Python and different on a command line
    if (type(old), old) != (type(new), new) and {repr(old), repr(new)} != {"unset", "None"}:
        yield Input(field, old, new, where)


def _names(stage: PlannedStage) -> list[str]:
    return [step.name for step in stage.steps]


def _once(found: Sequence[Input]) -> tuple[Input, ...]:
    kept: dict[tuple[str, str, str], Input] = {}
    for each in found:
        kept.setdefault((each.field, repr(each.old), repr(each.new)), each)
    return tuple(kept.values())
