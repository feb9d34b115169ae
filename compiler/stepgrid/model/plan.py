"""What a plan is: builds, stages and cells, as they are kept under outputs/plans/ and read by every job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from stepgrid.model.adaptive_repeat import AdaptiveRepeat

Value: TypeAlias = bool | int | float | str
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

BUILD_PREFIX = "b-"
STAGE_PREFIX = "s-"

CLIENT, FILES = "client", "files"  # of a step's setup: the id of its client's build; name of a file -> checksum
SERVICE = "service"  # likewise: what a build's server program is started, reached and stopped by
INPUTS = "inputs"  # of a step's setup: name of a file that its command reads -> path; its checksum is among FILES
NAMED = "named"  # likewise of programs of PATH and files that other words name: a command gets these words unchanged


@dataclass(frozen=True, slots=True)
class PlannedBuild:
    """One binary: what `build` makes once and every stage of it uses."""

    id: str
    name: str  # the first name that the spec gives it: a label, never identity
    engine: str
    version: str
    source: Mapping[str, Json]  # {"debian": PACKAGE, "suite": …} or {"system": PROGRAM}
    where: str = ""  # file:line:column of the definition, for messages
    recipe: Mapping[str, Json] = field(default_factory=dict)  # flags, extensions; patches: path and sha256 of each
    pin: str = ""  # what holds its source still, as the id has it
    pins: Mapping[str, str] = field(default_factory=dict)  # source -> commit, checksum or content, as it was planned


@dataclass(frozen=True, slots=True)
class Option:
    """One requested engine option of a step."""

    value: Value
    unsupported: str = "error"  # what to do when the binary lacks it: error | drop | cell (the cell is unsupported)
    where: str = ""


class Options(Mapping[str, Option]):
    """A step's options by name, in parts that it shares: most options are the same in many cells of a grid."""

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[Mapping[str, Option]]) -> None:
        self.parts = tuple(parts)  # no name is in two of them

    def __getitem__(self, name: str) -> Option:
        for part in self.parts:
            if name in part:
                return part[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted([name for part in self.parts for name in part]))

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __repr__(self) -> str:
        return f"Options({dict(self)})"


@dataclass(frozen=True, slots=True)
class PlannedStep:
    name: str  # a label
    kind: str  # the driver
    revision: int  # of what the driver runs: identity
    settings: Mapping[str, Json]  # complete, as the driver's Settings model dumps them
    options: Mapping[str, Option]
    seed: int
    measured: bool = True
    mutates: bool = False
    setup: Mapping[str, Json] = field(default_factory=dict)  # launch, start, storage_engine, probes, client …
    files: Mapping[str, str] = field(default_factory=dict)  # name in the step's folder -> text

    @property
    def client(self) -> str | None:
        """The build of its client, where that is one of its own."""
        found = self.setup.get(CLIENT)
        return None if found is None else str(found)


def contents_of(setups: Sequence[Mapping[str, Json]]) -> dict[str, str]:
    """The checksums of all that the commands of some steps read, by step and name."""
    found: dict[str, str] = {}
    for index, setup in enumerate(setups):
        sums = setup.get(FILES)
        if isinstance(sums, Mapping):
            found |= {f"{index}/{name}": str(sums[name]) for name in paths_of(setup)}
    return found


def paths_of(setup: Mapping[str, Json]) -> dict[str, str]:
    """The paths of all that a step's command reads, by name."""
    tables = [table for key in (INPUTS, NAMED) if isinstance(table := setup.get(key), Mapping)]
    return {name: str(path) for table in tables for name, path in table.items()}


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """The steps between two boundaries: what one job runs."""

    id: str
    title: str  # "rocksdb-7.8.3 cache=lru threads=1, load 1: readww, overwrite"
    build: str
    parent: str | None
    children: tuple[str, ...]
    load: int
    run: int
    hardware: str
    steps: tuple[PlannedStep, ...]
    seconds: float  # declared durations, the rest estimated
    rank: int  # position in the chosen order: the lowest that is ready runs first
    todays: str = ""  # the id that it would have today, where its results lie under an earlier one

    @property
    def clients(self) -> tuple[str, ...]:
        """The builds of its steps' clients."""
        return tuple(dict.fromkeys([client for step in self.steps if (client := step.client) is not None]))

    @property
    def contents(self) -> dict[str, str]:
        """Of the files that its commands read: checksums."""
        return contents_of([step.setup for step in self.steps])

    @property
    def builds(self) -> tuple[str, ...]:
        """All that must be made before it runs: the engine's first."""
        return (self.build, *self.clients)


@dataclass(frozen=True, slots=True)
class CellStep:
    """Where a cell's step is measured: the stage's position in the chain, the step's position in the stage."""

    name: str
    kind: str
    stage: int
    index: int
    measured: bool
    step: str = ""  # the name without what `times` and `for` add
    variables: Mapping[str, str] = field(default_factory=dict)  # of a live grid


@dataclass(frozen=True, slots=True)
class Repeat:
    load: int
    run: int
    stages: tuple[str, ...]  # the chain, root first


@dataclass(frozen=True, slots=True)
class PlannedCell:
    id: str
    labels: Mapping[str, str]  # axis -> label; `build` is always there
    build: str
    steps: tuple[CellStep, ...]
    repeats: tuple[Repeat, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    name: str
    labels: tuple[str, ...]
    steps: tuple[str, ...] | None = None  # the steps that it changes; None = all


@dataclass(frozen=True, slots=True)
class Report:
    base: Mapping[str, str] = field(default_factory=dict)
    smallest_effect: float = 0.02
    tables: tuple[Mapping[str, Json], ...] = ()  # as the spec says them
    claims: tuple[Mapping[str, Json], ...] = ()
    within: float | None = None  # seconds: figures that were measured further apart are no fair comparison
    as_shipped: str | None = None  # why builds of different quality are compared all the same


@dataclass(frozen=True, slots=True)
class Plan:
    digest: str
    title: str
    spec: str  # the path as given
    scale: str | None
    axes: tuple[Axis, ...]
    cells: tuple[PlannedCell, ...]
    builds: tuple[PlannedBuild, ...]  # sorted by id
    stages: tuple[PlannedStage, ...]  # sorted by id
    hardware: Mapping[str, Json]  # id, declared or described facts, of the spec
    report: Report
    warnings: tuple[str, ...] = ()
    machines: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)  # all that stages name, by id
    share: bool = True  # whether cells share what they have in common
    until: AdaptiveRepeat | None = None  # where cells have as many loads as it took so far
    searches: tuple[Mapping[str, Json], ...] = ()  # on live grids: step, variable, param, range, what each is for

    @property
    def adds_loads(self) -> bool:
        """A report of it may ask for more."""
        return self.until is not None or any(claim.get("confirm") for claim in self.report.claims)


def load_counts(plan: Plan) -> tuple[int, int]:
    """Of a cell, the fewest and the most."""
    counts = [len({repeat.load for repeat in cell.repeats}) for cell in plan.cells]
    return min(counts, default=0), max(counts, default=0)


class OutlinedStage(NamedTuple):
    """With its steps as they are written."""

    id: str
    title: str
    parent: str | None
    builds: tuple[str, ...]
    hardware: str
    steps: Sequence[Mapping[str, Any]]
    seconds: float
    rank: int


class Outline(NamedTuple):
    """A plan for who asks what became of its stages: without cells and what steps do."""

    digest: str
    title: str
    spec: str
    scale: str | None
    machines: Mapping[str, Mapping[str, Any]]
    builds: Sequence[PlannedBuild]
    stages: Sequence[OutlinedStage]


# What the steps of a stage are called together, where a line of the screen is for them.

MOST = 12
FIRST = 3


def called(steps: Sequence[str]) -> str:
    """Of many the first and the last."""
    if len(steps) <= MOST:
        return ", ".join(steps)
    return f"{', '.join(steps[:FIRST])}, … {steps[-1]} ({len(steps)} steps)"


IMPORT = "import"  # how the `spec` of a plan of published results begins


def imported(plan_spec: str) -> bool:
    """Whether a plan is of results that were imported: no spec comes to it."""
    return plan_spec.startswith(f"{IMPORT} ")


SERVER = "server"  # the kind that brings nothing: a server that already runs, by its name in the site file


def runs_already(source: Mapping[str, Any]) -> bool:
    """Whether such a build is a server that is neither built nor started."""
    return SERVER in source
