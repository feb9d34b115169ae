"""A plan: builds, stages and cells, as they are kept under outputs/plans/ and read by every job."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from json.encoder import encode_basestring
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from stepgrid.model.records import Json as Json
from stepgrid.model.records import PlannedRequest, Record, StepSetup
from stepgrid.model.units import counted

Value: TypeAlias = bool | int | float | str

BUILD_PREFIX = "b-"
STAGE_PREFIX = "s-"

CLIENT, FILES = "client", "files"  # of a step's setup: the id of its client's build; name of a file -> checksum
LINK = "link"  # of a build's recipe: the number of an order of its object files, from 2; link 1 has no number
BUILD = "build"  # the axis of builds, among the labels of every cell
ENGINE_WARM = "engine-warm"  # a start of a stage: the engine loads its own cache before the first step
SERVICE = "service"  # likewise: what a build's server program is started, reached and stopped by
WITHOUT_OPTIONS = "command"  # a kind of step that the engine's options do not reach
TIMEOUT = "timeout"  # of its parts: how long somebody waits changes no figure, and is no part of identity


class PlannedBuild(Struct, frozen=True):
    """A binary that `build` makes once and every stage of it uses."""

    id: str
    name: str  # the first name that the spec gives it: a label, never identity
    engine: str
    version: str
    source: Mapping[str, Json]  # {"debian": PACKAGE, "suite": …} or {"system": PROGRAM}
    where: str = ""  # file:line:column of the definition, for messages
    recipe: Mapping[str, Json] = {}  # flags, extensions; patches: path and sha256 of each
    pin: str = ""  # what holds its source still, as the id has it
    pins: Mapping[str, str] = {}  # source -> commit, checksum or content, as it was planned


def inner_map(values: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    part = values.get(name)
    return part if isinstance(part, Mapping) else {}


def recipe_flags(recipe: Mapping[str, Json]) -> Mapping[str, Json]:
    return inner_map(recipe, "flags")


def listed_texts(value: Json) -> list[str]:
    """Write a value that is one or several as a list; nothing is none."""
    return [*map(str, value)] if isinstance(value, list | tuple) else [] if value is None else [str(value)]


def inner_texts(value: object) -> Iterator[str]:
    """List every text in a value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from inner_texts(part)


class StorageFacts(Struct, frozen=True):
    """Storage of a machine, as far as its facts tell."""

    device: str = ""
    filesystem: str = ""
    max_sectors_kb: int | None = None

    @property
    def title(self) -> str:
        return " on ".join(filter(None, (self.filesystem, self.device)))


class HardwareFacts(Struct, frozen=True):
    """A machine, as far as a spec declares it or its host tells."""

    id: str = ""
    cpu: str = ""
    cores: int | None = None
    smt: bool | str | None = None
    memory: float | None = None  # bytes
    storage: StorageFacts = StorageFacts()
    declared: bool | None = None
    described: Mapping[str, Mapping[str, Json]] = {}  # machines of the spec in whose place this one is


REFUSE = "error"  # what is done when a binary lacks an option, as long as a spec says nothing else


class Option(Struct, frozen=True):
    """A requested engine option of a step."""

    value: Value
    unsupported: str = REFUSE  # what to do when the binary lacks it: error | drop | cell (the cell is unsupported)
    where: str = ""


class Options(dict[str, Option]):
    """The options of a step by name. Those that depend on the same axes are a part, which many cells share."""

    def __init__(self, parts: Iterable[Mapping[str, Option]]) -> None:
        self.parts = tuple(parts)  # no name is in two of them
        super().__init__(sorted(item for part in self.parts for item in part.items()))

    @cached_property
    def text(self) -> str:
        """Write what is in the id of a stage."""
        drop = {"drop": ["drop"]}
        return encode({name: [option.value, *drop.get(option.unsupported, ())] for name, option in self.items()})


class PlannedStep(Struct, frozen=True):
    name: str  # a label
    kind: str  # the driver
    revision: int  # of what the driver runs: identity
    settings: Mapping[str, Json]  # complete, as the driver's Settings model dumps them
    options: Mapping[str, Option]
    seed: int
    measured: bool = True
    mutates: bool = False
    setup: StepSetup = field(default_factory=StepSetup)
    files: Mapping[str, str] = {}  # name in the step's folder -> text

    @property
    def client(self) -> str | None:
        """The build of its client, where that is one of its own."""
        return self.setup.client

    @property
    def is_beside(self) -> bool:
        """Tell whether it runs beside the step before it."""
        return self.setup.timing is not None


class PlannedStage(Struct, frozen=True):
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
    origin: str = ""  # the host whose results came here as further loads; "": what is measured here

    @property
    def clients(self) -> tuple[str, ...]:
        """The builds of its steps' clients."""
        return tuple(dict.fromkeys([client for step in self.steps if (client := step.client) is not None]))

    @property
    def contents(self) -> dict[str, str]:
        """Checksums of the files that its commands read."""
        setups = enumerate(step.setup for step in self.steps)
        return {f"{index}/{name}": setup.files[name] for index, setup in setups for name in setup.paths}

    @property
    def builds(self) -> tuple[str, ...]:
        """All that must be made before it runs: the engine's first."""
        return (self.build, *self.clients)


class CellStep(Struct, frozen=True):
    """The place of a cell's step: the stage's position in the chain, the step's position in the stage."""

    name: str
    kind: str
    stage: int
    index: int
    measured: bool
    step: str = ""  # the name without what `times` and `for` add
    variables: Mapping[str, str] = {}  # of a live grid
    expects: tuple[str, ...] = ()  # expressions that its figures must fulfil
    checkpoint_expects: tuple[str, ...] = ()  # likewise, for all that starts from the checkpoint after it

    @property
    def names(self) -> set[str]:
        """The names that a request may use: its own, and the one before `times` and `for`."""
        return {self.name, self.step or self.name}


class PlannedRepeat(Struct, frozen=True):
    load: int
    run: int
    stages: tuple[str, ...]  # the chain, root first
    origin: str = ""  # of its stages


class PlannedCell(Struct, frozen=True):
    id: str
    labels: Mapping[str, str]  # axis -> label; `build` is always there
    build: str
    steps: tuple[CellStep, ...]
    repeats: tuple[PlannedRepeat, ...]


class PlannedAxis(Struct, frozen=True):
    name: str
    labels: tuple[str, ...]
    steps: tuple[str, ...] | None = None  # the steps that it changes; None = all


FINALISTS = 4  # of a search: the best by its model, and the best try itself


class PlannedTune(Struct, frozen=True):
    """A search for the best values of options: what it may try, and when it ends."""

    key: str  # of the points that it has added
    axes: tuple[PlannedAxis, ...]  # with all of their labels
    points: tuple[Mapping[str, str], ...]  # that it has added, also where the grid has none
    seed: int
    confirm: int  # fresh loads of the finalists and the base
    budget: float | None = None  # seconds that all stages may take, with those of fresh loads
    tries: int | None = None
    step: str | None = None
    forbidden: tuple[Mapping[str, str], ...] = ()  # labels of some axes that `exclude` takes away together
    finalists: tuple[str, ...] = ()  # that get fresh loads: the last stages of their first loads


class PlannedDesign(Struct, frozen=True):
    """A design that chose some points of the grid."""

    name: str
    number: int | None  # of `sample: 40`
    points: int  # of the whole grid
    notes: tuple[str, ...] = ()  # what it cannot tell

    @property
    def title(self) -> str:
        return self.name if self.number is None else f"{self.name}: {self.number}"


SAME_QUALITY = "same-quality"
DIFFERENCE = 0.03  # for which a plan or report counts the loads that would show it
SMALLEST_EFFECT = 0.02  # that a report tells from no effect, as long as a spec says no other
MOST_LOADS = 100  # that a plan or report counts as needed: more than anyone would run


class PlannedBest(Struct, frozen=True):
    """A question for the best of all cells: `best: {qps: max, where: …}`."""

    metric: str
    is_least: bool = False
    where: str | None = None  # an expression over metrics that a cell must fulfil
    step: str | None = None


class PlannedSearch(Record, frozen=True, rename={"objective": "for"}):
    """A search of a live grid."""

    step: str
    variable: str
    param: str
    least: int
    most: int
    objective: str
    points: int  # of each load


class DerivedMetric(Struct, frozen=True):
    """A metric that a spec computes of others."""

    name: str
    formula: str
    unit: str = ""
    better: Literal["higher", "lower"] | None = None


class ConfirmingLoads(Record, frozen=True):
    """Loads by which a claim may fail, and fresh ones that must fail it, too."""

    first: int
    fresh: int


class PlannedClaim(PlannedRequest, frozen=True, kw_only=True):
    claim: str
    expect: str
    where: Mapping[str, Json] = {}
    confirm: ConfirmingLoads | None = None


class PlannedReport(Struct, frozen=True):
    base: Mapping[str, str] = {}
    smallest_effect: float = SMALLEST_EFFECT
    tables: tuple[Mapping[str, Any], ...] = ()  # as the spec says them
    claims: tuple[PlannedClaim, ...] = ()
    within: float | None = None  # seconds: figures that were measured further apart are no fair comparison
    as_shipped: str | None = None  # why builds that would get no verdict are compared all the same
    strict: str | None = None  # SAME_QUALITY: builds that were made differently get no verdict
    metric: str | None = None  # that the report leads with
    declared: tuple[str, ...] = ()  # metrics that steps name themselves, in the order of the spec
    mixed_durability: str | None = None  # why arms whose writes survive unlike failures are compared all the same
    best: PlannedBest | None = None
    pareto: tuple[tuple[str, bool], ...] = ()  # metrics, each with whether less of it is better
    derived: tuple[DerivedMetric, ...] = ()

    @property
    def is_strict(self) -> bool:
        return self.strict == SAME_QUALITY


_GROWTH = 1.25  # of loads, from one look to the next: more looks find little earlier and cost width
ALPHA = 0.05  # over all looks

# The same level at each of so many looks, by which one look in all errs 5 times in 100; `bench/until.py --levels`
# simulates them. Looks at growing numbers of loads depend on each other, so this is far more than 5 % / looks.
LOOK_LEVELS = (
    0.05, 0.032, 0.0245, 0.0204, 0.0169, 0.0147, 0.0129, 0.0116, 0.0105, 0.0097, 0.0089, 0.0082, 0.0076, 0.0072,
    0.0067, 0.0063, 0.006,
)  # fmt: skip


class AdaptiveRepeat(Struct, frozen=True):
    """Loads until a comparison is sure: `repeat: {until: …}`."""

    least: int
    most: int
    width: float | None = None  # how far an interval may reach from its ratio; None: until there is a verdict
    within: float | None = None  # seconds that all stages of the plan may take
    is_race: bool = False  # for the best of all cells, not for verdicts of pairs

    @property
    def looks(self) -> tuple[int, ...]:
        """least=3, most=12: after 3, 4, 5, 7, 9 and 12 loads."""
        looks = [self.least]
        while looks[-1] < self.most:
            looks.append(min(self.most, max(looks[-1] + 1, math.ceil(looks[-1] * _GROWTH))))
        return tuple(looks)

    @property
    def level(self) -> float:
        """Level of significance of each look."""
        return LOOK_LEVELS[min(len(self.looks), len(LOOK_LEVELS)) - 1]

    def next_look(self, loads: int) -> int | None:
        """The look after so many loads; None after the last."""
        return next((look for look in self.looks if look > loads), None)

    @property
    def goal(self) -> str:
        """until decided; until ± 2 %; until best"""
        if self.is_race:
            return "until best"
        return "until decided" if self.width is None else f"until ± {self.width * 100:g} %"


CHANGED, ALL = "changed", "all"  # steps that are profiled: those that a report found different; the measured ones


class ProfilePass(Struct, frozen=True):
    """Stages that run again under a profiler, outside of figures and verdicts."""

    where: tuple[str, ...]  # CHANGED, ALL, or names of steps
    stages: Mapping[str, str]  # a measured stage -> the one that profiles it

    @property
    def waits(self) -> bool:
        """Tell whether verdicts choose its stages."""
        return CHANGED in self.where


class Plan(Struct, frozen=True):
    digest: str
    title: str
    spec: str  # the path as given
    scale: str | None
    axes: tuple[PlannedAxis, ...]
    cells: tuple[PlannedCell, ...]
    builds: tuple[PlannedBuild, ...]  # sorted by id
    stages: tuple[PlannedStage, ...]  # sorted by id
    hardware: Mapping[str, Json]  # id, declared or described facts, of the spec
    report: PlannedReport
    warnings: tuple[str, ...] = ()
    machines: Mapping[str, Mapping[str, Json]] = {}  # all that stages name, by id
    share: bool = True  # whether cells share what they have in common
    until: AdaptiveRepeat | None = None  # where cells have as many loads as it took so far
    searches: tuple[PlannedSearch, ...] = ()  # on live grids
    profile: ProfilePass | None = None
    design: PlannedDesign | None = None
    tune: PlannedTune | None = None
    equal: tuple[str, ...] = ()  # places in the spec of options by `equal`

    def stage(self, node: str) -> PlannedStage:
        """Find a stage; KeyError where the plan has no such stage."""
        return {stage.id: stage for stage in self.stages}[node]

    def build(self, node: str) -> PlannedBuild:
        return {build.id: build for build in self.builds}[node]

    @property
    def adds_loads(self) -> bool:
        """A report of it may ask for more."""
        return bool(self.until or self.tune) or any(claim.confirm for claim in self.report.claims)

    @property
    def adds_stages(self) -> bool:
        """A report of it may ask for more loads, or for profiles."""
        return self.adds_loads or (self.profile is not None and self.profile.waits)

    @property
    def profiling(self) -> frozenset[str]:
        """The stages that profile others."""
        return frozenset(self.profile.stages.values()) if self.profile else frozenset()


def design_text(plan: Plan) -> str:
    """pairs: 15 of 729 cells; 9 loads, 6 fewer than cells"""
    assert plan.design is not None
    loads = len({cell.repeats[0].stages[0] for cell in plan.cells if len(cell.repeats[0].stages) > 1})
    saved = sum(len(cell.repeats[0].stages) > 1 for cell in plan.cells) - loads
    text = f"{plan.design.title}: {len(plan.cells):,} of {counted(plan.design.points, 'cell')}"
    return f"{text}; {counted(loads, 'load')}, {saved:,} fewer than cells" if saved else text


def load_counts(plan: Plan) -> tuple[int, int]:
    """Count the loads of a cell: the fewest and the most."""
    counts = [len({repeat.load for repeat in cell.repeats}) for cell in plan.cells]
    return min(counts, default=0), max(counts, default=0)


def other_loads(plan: Plan) -> Mapping[str, Mapping[int, str]]:
    """Map each cell that has loads of other hosts to these, with the host."""
    loads = {cell.id: {repeat.load: repeat.origin for repeat in cell.repeats if repeat.origin} for cell in plan.cells}
    return {cell: hosts for cell, hosts in loads.items() if hosts}


IMPORT = "import"  # how the `spec` of a plan of published results begins
SERVER = "server"  # the kind of source that brings nothing: a server that already runs, by its name in the site file
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # of programs, behind their own folder

_MOST_STEPS, _FIRST_STEPS = 12, 3  # of a stage, in a line


def stage_label(steps: Sequence[str]) -> str:
    """Join the names of a stage's steps; of many the first and the last."""
    if len(steps) <= _MOST_STEPS:
        return ", ".join(steps)
    return f"{', '.join(steps[:_FIRST_STEPS])}, … {steps[-1]} ({len(steps)} steps)"


def is_imported(plan_spec: str) -> bool:
    """A plan of published results: no spec comes to it."""
    return plan_spec.startswith(f"{IMPORT} ")


def runs_already(source: Mapping[str, Json]) -> bool:
    """A build whose server is neither built nor started."""
    return SERVER in source


class Command(Struct, frozen=True):
    """The program that a step runs: arguments, environment, files."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = {}
    duration: float | None = None  # declared seconds; the deadline is this plus a grace; None = no declared end
    files: Mapping[str, str] = {}  # name in the step's folder -> text, there when it starts
    secrets: tuple[str, ...] = ()  # of `files`: gone when it has ended, also where it did not come to read them
    keep: tuple[str, ...] = ()  # files of the data directory that are copied to the step's folder when it has ended


# Canonical JSON: the only text of values where bytes matter. Equal values give equal bytes.

quoted = encode_basestring  # a text as JSON


def fields(value: Any) -> dict[str, Json]:
    return {name: getattr(value, name) for name in value.__struct_fields__}


# Compact JSON with sorted keys; a value is its fields.
encode = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    default=lambda value: value.to_json() if isinstance(value, Record) else fields(value),
).encode
