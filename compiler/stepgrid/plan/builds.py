"""A build as it is planned: its id, and the pins that its job goes by. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

from stepgrid.expand.builds import Build
from stepgrid.language.sources import can_move, source_key, source_parts
from stepgrid.model.plan import Json, PlannedBuild
from stepgrid.plan import identity
from stepgrid.plan.pins import Pins, siblings


class ExistingBuild(NamedTuple):
    """A build that exists."""

    digests: Collection[str]  # commits and checksums of all that it was made of
    here: bool  # in this checkout; else its results were imported, with its record


OfStore: TypeAlias = Callable[[str], ExistingBuild | None]  # by the build's id


def planned(build: Build, pins: Pins, made: OfStore) -> PlannedBuild:
    """Its job goes by all pins, whichever of them are in the id: made again, it is made of the same."""
    text = _identifying(build, pins, made)
    return PlannedBuild(
        _id(build, text),
        build.name,
        build.engine,
        build.version,
        build.source,
        str(build.where),
        {**build.recipe, **_patches(pins)},
        text,
        pins.sources,
    )


def _identifying(build: Build, pins: Pins, made: OfStore) -> str:
    """The pins of the id. A build that was made before its sources were locked, or when only its first program was
    looked at, keeps the id that it had then, and with it its results, if it was made of what is pinned now."""
    others = [
        name
        for sibling in siblings(build.engine, build.source, build.recipe)
        if (name := source_key(sibling)) in pins.sources
    ]
    locked: list[tuple[str, ...]] = [
        (name,) for part in source_parts(build.source) if can_move(part) and (name := source_key(part)) in pins.sources
    ]
    locked += [tuple(others)] if others else []
    if not locked:
        return pins.text
    existing = list(_existing(build, pins, locked, made))
    return next((text for text, here in existing if here), existing[0][0] if existing else pins.text)


def _existing(build: Build, pins: Pins, locked: Collection[Sequence[str]], made: OfStore) -> Iterator[tuple[str, bool]]:
    """With all pins, then with fewer: the pins of the id, and whether it was made here."""
    for count in range(len(locked) + 1):
        for groups in combinations(locked, count):
            dropped = [name for group in groups for name in group]
            text = pins.without(dropped).text
            found = made(_id(build, text))
            if found and all(pins.sources[name] in found.digests for name in dropped):
                yield text, found.here


def _id(build: Build, pin: str) -> str:
    return identity.build_id(build.engine, build.version, build.source, pin, build.recipe)


def _patches(pins: Pins) -> dict[str, Json]:
    """For the job, which finds them by their paths and refuses other contents."""
    listed: list[Json] = [{"path": path, "sha256": checksum} for path, checksum in pins.patches]
    return {"patches": listed} if listed else {}
