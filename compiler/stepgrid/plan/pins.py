"""What holds a build still: what the lock file says, the content of what is on this machine, the patches' contents."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias

from stepgrid.expand.builds import Build
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems
from stepgrid.language.sources import can_move, source_key, source_parts
from stepgrid.plugins.engine import DeclaredBuilds
from stepgrid.plugins.registry import builder

OfMachine: TypeAlias = Callable[[Mapping[str, Any]], str]  # the content of a system's program, of a local tree


class Pins(NamedTuple):
    sources: Mapping[str, str] = {}
    patches: Sequence[tuple[str, str]] = ()  # path and checksum, in order

    @property
    def text(self) -> str:
        """What the build's id has of them: contents, and no name of a file or a source."""
        return " ".join([*self.sources.values(), *([_together(self.patches)] if self.patches else [])])

    def without(self, dropped: Collection[str]) -> Pins:
        return self._replace(sources={name: pin for name, pin in self.sources.items() if name not in dropped})


def pins(build: Build, spec: str, locked: lock_file.Lock, machine: OfMachine, problems: Problems) -> Pins:
    found: dict[str, str] = {}
    for source in source_parts(build.source):
        held = lock_file.pin_digest(locked.pins.get(source_key(source), "")) if can_move(source) else machine(source)
        if held:
            found[source_key(source)] = held
    for sibling in siblings(build.engine, build.source, build.recipe):
        if digest := machine(sibling):
            found[source_key(sibling)] = digest
    return Pins(found, lock_file.patches(build.patches, spec, problems))


def siblings(engine: str, source: Mapping[str, Any], recipe: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """List the other programs of a `system` source, which stand beside the first or are on PATH as well."""
    if "system" not in source:
        return []
    kind, first = builder(engine), PurePath(str(source["system"]))
    if kind is None:
        return []
    names = tuple(kind.program_paths(recipe)) if isinstance(kind, DeclaredBuilds) else kind.programs
    return [{"system": str(first.parent / name)} for name in names if len(names) > 1 and name != first.name]


def used(sources: Iterable[Mapping[str, Any]]) -> set[str]:
    """What a lock file can hold still of these, by the names that it has there."""
    return {source_key(part) for source in sources for part in source_parts(source) if can_move(part)}


def _together(patches: Sequence[tuple[str, str]]) -> str:
    return hashlib.sha256(b"".join(bytes.fromhex(checksum) for _, checksum in patches)).hexdigest()
