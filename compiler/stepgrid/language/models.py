"""What a spec may say, after its short forms are written out. Values that depend on a cell stay nodes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ModelWrapValidatorHandler, PrivateAttr, model_validator
from pydantic_core import PydanticCustomError

from stepgrid.language.builds.service import Service
from stepgrid.language.fields import Count, Duration, Given, Label, Model, Name, Options, Size, Title, Version
from stepgrid.language.problems import Location as Place
from stepgrid.language.repeat import Loads, Repeat
from stepgrid.language.yaml import Map, Node


class Storage(Model):
    device: str | None = None
    kind: Literal["nvme", "ssd", "disk", "virtual", "unknown"] | None = None
    members: int | None = None
    raid: int | None = None
    stripe: Size | None = None
    filesystem: str | None = None
    max_sectors_kb: int | None = None


class Hardware(Model):
    """A machine as the article describes it; what is said is verified before a measured step."""

    id: str | None = None
    cpu: str | None = None
    sockets: int | None = None
    cores: int | None = None
    smt: bool | None = None
    memory: Size | None = None
    os: str | None = None
    storage: Storage | None = None


class Launch(Model):
    """How client and server are started."""

    numa: Literal["interleave"] | None = None
    malloc: Literal["jemalloc", "tcmalloc"] | None = None
    cpus: Label | None = None  # a list such as 0-3,8
    memory: Size | None = None
    env: dict[str, Label] = {}


Start = Literal["cold", "warm"]  # what the page cache holds when a stage starts


class Build(Model):
    engine: Label | None = None
    version: Version | None = None
    versions: Annotated[tuple[Version, ...], Field(min_length=1)] | None = None
    source: dict[str, Any] | None = None
    extends: Label | None = None
    abstract: bool = False
    patches: tuple[Label, ...] = ()
    flags: dict[str, Label] = {}
    extensions: dict[str, Label] = {}
    service: Service | None = None
    options: Options = ()
    params: Given = {}

    @model_validator(mode="after")
    def _one_of_them(self) -> Build:
        if self.version is not None and self.versions is not None:
            raise PydanticCustomError("not_both", "{why}", {"why": "it has both `version` and `versions`: keep one"})
        return self


class OptionSet(Model):
    engine: Label | tuple[Label, ...] | None = None
    when: Label | None = None
    extends: Label | None = None
    when_unsupported: Literal["drop"] | None = None
    options: Given = {}


class Search(Model):
    """A variable of a live grid whose values are chosen while it runs."""

    param: Name | None = None
    search: Annotated[tuple[Label, ...], Field(min_length=2, max_length=2)]
    for_: Label = Field(alias="for")
    points: Count = 10


class Step(Model):
    """A step or its use; the keys that are not named here are settings of the step's kind."""

    model_config = ConfigDict(extra="allow")

    use: Name | None = None
    name: Name | None = None
    checkpoint: Name | None = None
    kind: Label | None = None
    as_: Name | None = Field(default=None, alias="as")
    when: Label | None = None
    times: Count | None = None
    for_: dict[str, Search | tuple[Label, ...]] | None = Field(default=None, alias="for")
    warmup: Duration | None = None
    measured: bool | None = None
    mutates: bool | None = None
    params: Given = {}
    options: Options = ()
    _nodes: Map | None = PrivateAttr(None)

    @model_validator(mode="wrap")
    @classmethod
    def _remembered(cls, value: Any, plain: ModelWrapValidatorHandler[Step]) -> Step:
        step = plain(value)
        if isinstance(value, Map):
            step._nodes = value
        return step

    @property
    def where(self) -> Place | None:
        return self._nodes.where if self._nodes is not None else None

    def node(self, name: str) -> Node:
        """What stands under a key, as it was read."""
        return self._nodes.get(name) if self._nodes is not None else None

    def key(self, name: str, default: Place) -> Place:
        """Where a key of it stands."""
        return self._nodes.at.get(name, default) if self._nodes is not None else default


class Point(Model):
    """A patch."""

    hardware: Any = None
    build: Label | None = None
    params: Given = {}
    options: Options = ()
    launch: Launch | None = None
    start: Start | None = None
    when: Label | None = None
    when_unsupported: Literal["drop"] | None = None


class Group(Point):
    """Points that are generated: one for each value."""

    each: Annotated[tuple[Any, ...], Field(min_length=1)]
    as_: Label = Field(alias="as")
    name: Label


class Axis(Model):
    builds: tuple[Label, ...] | None = None
    points: dict[str, Point] | None = None
    groups: tuple[Group, ...] = ()
    option: Label | None = None
    param: Label | None = None
    values: tuple[Name, ...] | None = None
    from_: Label | None = Field(default=None, alias="from")
    steps: tuple[Label, ...] | None = None


class Probe(Model):
    """Something small that is timed before or after steps; its name is a metric, in seconds."""

    name: Name
    before: tuple[Label, ...] = ()
    after: tuple[Label, ...] = ()
    sql: Label | None = None
    command: tuple[Label, ...] | None = None
    counters: tuple[Label, ...] = ()  # of the server, by name, pattern or table: how they grow around it


class Collector(Model):
    """A program that looks on while steps run. What it costs is in their figures, and the report says so."""

    name: Name | None = None  # its kind's, where it does not say
    collector: Label | None = None
    command: tuple[Label, ...] | None = None
    steps: tuple[Label, ...] = ()
    frequency: Count | None = None  # samples a second
    call_graph: Literal["fp", "dwarf", "lbr"] | None = None  # how stacks are found
    events: tuple[Label, ...] = ()
    every: Duration | None = None


Where = dict[str, Label | tuple[Label, ...]]  # axis (or `step`) -> a label, or any of several


class Table(Model):
    """One that names a layout may leave out the rest."""

    title: Title | None = None
    layout: Label | None = None
    rows: Annotated[tuple[Label, ...], Field(min_length=1)] | None = None
    columns: tuple[Label, ...] = ()
    by: tuple[Label, ...] = ()
    where: Where = {}
    metrics: tuple[Label, ...] = ()
    counters: tuple[Label, ...] = ()  # of servers and probes, by pattern; for the layout of that name
    top: Count | None = None  # of them: so many, the largest
    base: dict[str, Label] | None = None
    labels: dict[str, Name] = {}
    window: Annotated[tuple[Label, ...], Field(min_length=1, max_length=2)] = ()  # the last so long; from, to
    _where: Place | None = PrivateAttr(None)

    @model_validator(mode="wrap")
    @classmethod
    def _placed(cls, value: Any, plain: ModelWrapValidatorHandler[Table]) -> Table:
        table = plain(value)
        if isinstance(value, Map):
            table._where = value.where
        return table

    @property
    def where_said(self) -> Place:
        return self._where or Place("", 1, 1)


class Claim(Model):
    claim: Annotated[str, Field(min_length=1)]
    expect: Label
    where: Where = {}
    confirm: Loads | None = None  # fresh loads that must fail it, too


class Report(Model):
    base: dict[str, Label] = {}
    smallest_effect: Annotated[float, Field(ge=0, lt=1)] = 0.02
    tables: tuple[Table, ...] = ()


class Definitions(Model):
    hardware: dict[str, Hardware] = {}
    builds: dict[str, Build] = {}
    options: dict[str, OptionSet] = {}
    workloads: dict[str, tuple[Step, ...]] = {}


class Library(Model):
    include: tuple[Label, ...] = ()
    define: Definitions = Field(default_factory=Definitions)


class Spec(Library):
    spec: Literal["1"] | None = None
    title: Title
    hardware: Any = None
    builds: Annotated[dict[str, Build], Field(min_length=1)]
    options: Options = ()
    params: Given = {}
    workload: Label | None = None
    steps: tuple[Step, ...] | None = None
    sweep: dict[str, Axis] = {}
    exclude: tuple[Label, ...] = ()
    also: tuple[dict[str, Label], ...] = ()
    repeat: Repeat = Field(default_factory=Repeat)
    share: bool = True
    launch: Launch = Field(default_factory=Launch)
    start: Start | None = None
    probes: tuple[Probe, ...] = ()
    collectors: tuple[Collector, ...] = ()
    claims: tuple[Claim, ...] = ()
    allow: dict[str, Annotated[str, Field(min_length=1)]] = {}
    compare_within: Duration | None = None
    order: Literal["randomized", "interleaved", "as_written"] = "randomized"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    report: Report = Field(default_factory=Report)
    scales: dict[str, Any] = {}
