"""What a source is: one module per way to get binaries, or the tree that they are compiled from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from stepgrid.build.task import Order
from stepgrid.model.plan import Json
from stepgrid.plugins.server import ServerDescription


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file or a commit that was fetched."""

    name: str
    version: str
    digest: str  # a SHA-256, or a commit


@dataclass(frozen=True, slots=True)
class Material:
    """What a source put into its folder, or found on the machine: a tree to compile, a prefix of ready programs."""

    tree: Path | None = None
    prefix: Path | None = None
    programs: Mapping[str, Path] = field(default_factory=dict)  # of the machine itself
    artifacts: tuple[Artifact, ...] = ()
    quality: Mapping[str, Json] = field(default_factory=dict)  # what decides whether figures compare
    facts: Mapping[str, Json] = field(default_factory=dict)
    advice: str = ""  # what to do when the binary's version is not the declared one
    described: ServerDescription | None = None  # of a server that already runs: there is no binary to be asked


class Source(Protocol):
    route: str  # the key of the spec's `source:` that names it

    def describe(self, source: Mapping[str, Json]) -> str:
        """For the progress line: `debian rocksdb-tools (bookworm)`."""
        ...

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        """Into a folder that is there and empty, at or below the order's. A BuildError says what is wrong."""
        ...


@runtime_checkable
class ResolvableSource(Protocol):
    """A source that can tell what it is now without fetching it; others are fetched for that."""

    def resolve(self, source: Mapping[str, Json], order: Order) -> str:
        """As a lock file says it: a commit, or a checksum with `sha256:` before it."""
        ...
