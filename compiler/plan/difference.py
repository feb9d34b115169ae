"""What makes one stage another than one that was measured: field by field, old -> new. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.plan.model import PlannedBuild, PlannedStage, PlannedStep


@dataclass(frozen=True, slots=True)
class Unset:
    """Not there: another thing than null."""

    def __repr__(self) -> str:
        return "unset"


UNSET = Unset()


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


def differences(old: Sequence[Link], new: Sequence[Link]) -> tuple[Input, ...]:
    """Between two chains of stages, root first: each input once, though many steps may have it."""
    found = [*_roots(old[0], new[0])] if old and new else []
    for one, other in zip(old, new, strict=False):
        found += _stages(one.stage, other.stage)
    if len(old) != len(new):
        found.append(Input("checkpoints before it", len(old) - 1, len(new) - 1))
    return _once(found)


def _roots(old: Link, new: Link) -> Iterator[Input]:
    if old.build.id != new.build.id:
        # with nothing else that differs, another version of this program made the plan
        yield from _builds(old.build, new.build) or [Input("build", old.build.id, new.build.id, new.build.where)]
    yield from _value("hardware", old.stage.hardware, new.stage.hardware, "")


def _builds(old: PlannedBuild, new: PlannedBuild) -> list[Input]:
    where = new.where
    source = [*_map("build.source", _flat(old.source), _flat(new.source), where)]
    # another source has another pin, which says no more
    held = old.pins.keys() & new.pins.keys() if source else old.pins.keys() | new.pins.keys()
    pins = [(old.pins.get(name, UNSET), new.pins.get(name, UNSET)) for name in sorted(held)]
    recipe = [(name, _recipe(old, name), _recipe(new, name)) for name in ("extensions", "flags")]
    return [
        *_value("build.engine", old.engine, new.engine, where),
        *_value("build.version", old.version, new.version, where),
        *source,
        *(each for before, after in pins for each in _value("build.pin", before, after, where)),
        *_value("build.patches", _patches(old), _patches(new), where),
        *(each for name, before, after in recipe for each in _map(f"build.{name}", before, after, where)),
    ]


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
        [str(patch["sha256"])[:12] for patch in listed if isinstance(patch, Mapping)]
        if isinstance(listed, list)
        else []
    )


def _stages(old: PlannedStage, new: PlannedStage) -> Iterator[Input]:
    yield from _value("load", old.load, new.load, "")
    yield from _value("run", old.run, new.run, "")
    if [step.kind for step in old.steps] != [step.kind for step in new.steps]:
        yield Input("steps", _names(old), _names(new))
        return
    for one, other in zip(old.steps, new.steps, strict=True):
        yield from _steps(one, other)


def _steps(old: PlannedStep, new: PlannedStep) -> Iterator[Input]:
    yield from _value(f"revision of {new.kind}", old.revision, new.revision, "")
    yield from _map("params", old.settings, new.settings, "")
    yield from _options(old, new)
    # what is done decides the seed: where that differs, the seed is no reason of its own
    if old.settings == new.settings:
        yield from _value(f"{new.name}: seed", old.seed, new.seed, "")


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
