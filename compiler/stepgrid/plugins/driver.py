"""What a driver is: one module per step kind.

Its planning half is all that `check` and `plan` need. The running half, a command and the parser of its output, is
there for the kinds that this version runs: a kind that is only declared does not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from pydantic import BaseModel

    from stepgrid.model.plan import PlannedStep
    from stepgrid.plugins.server import Access


class Context(NamedTuple):
    """What the runner gives a driver to make a command of."""

    programs: Mapping[str, Sequence[str]]  # program name -> argv prefix, from the build record
    version: str  # of the binary
    data: Path  # the live database directory
    folder: Path  # where this step's files go
    seed: int
    server: Access | None = None  # of an engine that is a server: the one that was started for the stage
    device: str | None = None  # that the database is on, where the site file says so
    client_version: str | None = None  # of the step's client, where that is a build of its own
    inputs: Mapping[str, str] = {}  # files that its command reads: the names that the spec gives them -> absolute paths


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    duration: float | None = None  # declared seconds; the deadline is this plus a grace; None = no declared end
    files: Mapping[str, str] = field(default_factory=dict)  # name in the step's folder -> text, there when it starts
    secrets: tuple[str, ...] = ()  # of `files`: gone when it has ended, also where it did not come to read them
    keep: tuple[str, ...] = ()  # files of the data directory that are copied to the step's folder when it has ended


class Buckets(NamedTuple):
    """A histogram of latencies, by column, as a collect reads a million of its rows.

    So many operations took longer than `least` microseconds, and at most `most`.
    """

    operation: str  # read, write …, "" for all
    least: Sequence[float]
    most: Sequence[float]
    operations: Sequence[int]


Bucket: TypeAlias = tuple[str, float, float, int]
BUCKET = Buckets._fields


def rows(histograms: Iterable[Buckets]) -> Iterator[Bucket]:
    for each in histograms:
        yield from zip(repeat(each.operation), each.least, each.most, each.operations)


def by_column(buckets: Iterable[Bucket]) -> list[Buckets]:
    """Those of one operation stand together."""
    parts = ((name, zip(*part, strict=True)) for name, part in groupby(buckets, itemgetter(0)))
    return [Buckets(name, least, most, operations) for name, (_, least, most, operations) in parts]


@dataclass(frozen=True, slots=True)
class Figures:
    """What one step's output says. A figure that the output lacks is not in `metrics`: missing is missing, never 0."""

    metrics: Mapping[str, float]  # by name of collect.metrics.METRICS; of a `command`, by the spec's own names
    facts: Mapping[str, str] = field(default_factory=dict)  # text: version as printed, compression …
    qps: Sequence[tuple[float, float]] = ()  # (seconds since start, operations per second) at intervals
    warnings: Sequence[str] = ()  # what the engine says about itself
    counters: Mapping[str, float] = field(default_factory=dict)  # the engine's own, by its names, at the step's end
    levels: Sequence[Mapping[str, float | str]] = ()  # the compaction table, by columns of collect.levels.LEVELS
    histograms: Sequence[Buckets] = ()  # whole; none is empty
    window: tuple[float, float] | None = None  # seconds since the command's start; None = all of it was measured


class ParseError(Exception):
    """The output of a step that ended well does not hold what it must: says which file and what was looked for."""


class RefusedError(Exception):
    """Why a step is not started, as a sentence."""


class Driver(Protocol):
    """The planning half."""

    kind: str
    revision: int  # of the command: identity
    reserved: Mapping[str, str]  # options that a spec may not give -> the setting that it is; "" = the driver's own

    def settings_model(self) -> type[BaseModel]: ...

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        """What the step does, for seeds: equal in every arm of a comparison (db_bench: the first benchmark)."""
        ...

    def estimate(self, settings: Mapping[str, Any]) -> float:
        """Seconds that the step will take, roughly."""
        ...


@runtime_checkable
class Running(Protocol):
    """The running half."""

    parser: int  # of the parser: metrics are collected again when it is raised, nothing is measured again

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command: ...

    def parse(self, folder: Path, settings: Mapping[str, Any]) -> Figures:
        """Reads the step's folder (stdout, stderr, and files of its own that the command named there)."""
        ...


@runtime_checkable
class Declares(Protocol):
    """A kind that says which metrics its parser finds, and finds no other."""

    def yields(self) -> Collection[str]:
        """By name of collect.metrics.METRICS."""
        ...


@runtime_checkable
class Live(Protocol):
    """A kind that can tell how fast a step is while it runs."""

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        """(Seconds since the start, operations per second) of the newest intervals, oldest first.

        Asked every second beside a measurement: of a file it reads the end and no more.
        """
        ...


@runtime_checkable
class Complains(Protocol):
    """A kind whose program says in its output why it failed."""

    def complaint(self, folder: Path) -> str | None:
        """Of a program that ended with an error, as a sentence; None where its output has none."""
        ...


@runtime_checkable
class Finds(Protocol):
    """A kind that says how many of its lookups should find a key: a read that finds nothing is no figure of a read."""

    def hit_rates(self, steps: Sequence[PlannedStep]) -> Sequence[float | None]:
        """Of each step of a sequence that begins without a database: a share; None where it is unknown."""
        ...


@runtime_checkable
class Client(Protocol):
    """A kind whose program is a build of its own: the step's setting `client` is the name of that build."""

    client: str  # the engine that such a build is of


@runtime_checkable
class WithFiles(Protocol):
    """A kind whose steps need files: they are in the step's folder when its command starts."""

    def files(self, settings: Mapping[str, Any], own: Callable[[str], str]) -> Mapping[str, str]:
        """Name in the step's folder -> text. Asked when the spec is planned: what a file holds is part of the identity.

        `own` gives the text of a file that the spec brings, by its name, or raises: what it raises is the caller's.
        """
        ...


@runtime_checkable
class WithInputs(Protocol):
    """A kind whose commands read files where they lie: what is in them is part of the identity.

    Its setting `files` lists them; the names are no part of the identity.
    """

    def words(self, settings: Mapping[str, Any]) -> Sequence[str]:
        """Those that may name a file."""
        ...

    def listed(self, settings: Mapping[str, Any]) -> Sequence[str]:
        """Files and folders that there must be."""
        ...


@runtime_checkable
class WithPlaceholders(Protocol):
    """A kind with settings in whose words names in braces are filled in."""

    def placeholders(self, server: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Setting -> the names that there are. `server`: those by which the server of the stage is found."""
        ...


@dataclass(frozen=True, slots=True)
class PrintedStep:
    """One step of a log that people already have."""

    name: str  # as the log has it: a benchmark, a script
    figures: Figures
    intervals: Sequence[Interval] = ()  # where clients report one by one; the rate of all together is figures.qps


class Interval(NamedTuple):
    """What one client did up to a second since the step's start."""

    client: int
    second: float
    operations_per_s: float


@runtime_checkable
class Printed(Protocol):
    """A kind whose output can be read without the step that made it: `stepgrid parse KIND FILE`."""

    def printed(self, path: Path) -> Sequence[PrintedStep]:
        """Every step that the log holds, in its order. ParseError where it is none: what was looked for."""
        ...


class Runner(Driver, Running, Protocol):
    """Both halves: a kind that this version runs."""
