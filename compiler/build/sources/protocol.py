"""What a source is: one module per way to get binaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from compiler.build.command import Commands
from compiler.plan.model import Json


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Obtained:
    """What a source put into the build's folder, or found on the machine."""

    programs: Mapping[str, tuple[str, ...]]  # argv prefix: paths relative to the build's folder or absolute
    quality: Mapping[str, Json]  # what decides whether its figures compare with another build's
    packages: tuple[Package, ...] = ()
    facts: Mapping[str, Json] = field(default_factory=dict)
    version_advice: str = ""  # what to do when the binary's version is not the declared one


class Source(Protocol):
    route: str  # the key of the spec's `source:` that names it

    def describe(self, source: Mapping[str, Json]) -> str:
        """For the progress line: `debian rocksdb-tools (bookworm)`."""
        ...

    def obtain(
        self, source: Mapping[str, Json], programs: Sequence[str], folder: Path, commands: Commands
    ) -> Obtained: ...
