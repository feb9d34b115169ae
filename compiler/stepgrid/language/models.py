"""The content of a spec, after its short forms are written out. Values that depend on a cell stay nodes."""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from stepgrid.language.problems import Location
from stepgrid.language.validation import (
    Count,
    Duration,
    FreeMap,
    Label,
    Model,
    Name,
    Number,
    Size,
    Title,
    Version,
    accepts,
    sentence_error,
)
from stepgrid.language.yaml import Map, Node, Text
from stepgrid.model import units
from stepgrid.model.plan import SMALLEST_EFFECT, AdaptiveRepeat
from stepgrid.model.records import Json

Labels = Annotated[tuple[Label, ...], accepts(tuple[Label, ...] | Label)]
SomeLabels = Annotated[tuple[Label, ...], Field(min_length=1), accepts(tuple[Label, ...] | Label)]
OptionLayer = Label | dict[str, Json]
# names of sets, maps, and sets written in place
Options = Annotated[tuple[Any, ...], accepts(tuple[OptionLayer, ...] | OptionLayer)]
Argv = Annotated[tuple[Any, ...], Field(min_length=1)]


class Storage(Model):
    device: str | None = None
    kind: Literal["nvme", "ssd", "disk", "virtual", "unknown"] | None = None
    members: int | None = None
    raid: int | None = None
    stripe: Size | None = None
    filesystem: str | None = None
    max_sectors_kb: int | None = None


class Hardware(Model):
    """A machine as the article describes it; every fact is verified before a measured step."""

    id: str | None = None
    cpu: str | None = None
    sockets: int | None = None
    cores: int | None = None
    smt: bool | None = None
    memory: Size | None = None
    os: str | None = None
    storage: Storage | None = None
    # per hour: no part of identity, nor is it verified
    price: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None


HardwareUse = Annotated[Any, accepts(Hardware | Label)]


def _check_processors(text: Label) -> Label:
    for part in text.split(","):
        ends = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5})(?::[1-9]\d{0,4})?)?", part)
        if ends is None or int(ends[1]) > int(ends[2] or ends[1]):
            raise sentence_error("processors", f"`{text}` is no list of processors such as 0-3,8")
    return text


Processors = Annotated[Label, AfterValidator(_check_processors)]


class Launch(Model):
    """Settings of the processes of client and server."""

    numa: Literal["interleave"] | None = None
    malloc: Literal["jemalloc", "tcmalloc"] | None = None
    cpus: Processors | None = None  # a list such as 0-3,8
    memory: Size | None = None
    env: dict[str, Label] = {}
    secret: tuple[Label, ...] = ()  # further variables of `env` whose values no plan, record or report has

    @model_validator(mode="after")
    def _check(self) -> "Launch":
        if name := next((name for name in self.secret if name not in self.env), None):
            raise sentence_error("no_variable", f"`secret` names `{name}`, which is no variable of its `env`")
        return self


Start = Literal["cold", "warm", "engine-warm"]  # the caches when a stage starts


def _check_one_form(form: Model, names: tuple[str, ...], least: int) -> None:
    """Refuse several of these keys, or fewer than needed."""
    values = [name for name in names if getattr(form, name) is not None]
    if len(values) > 1:
        raise sentence_error("not_both", f"it has both `{values[0]}` and `{values[1]}`: keep one")
    if len(values) < least:
        listed = f"{', '.join(f'`{name}`' for name in names[:-1])} or `{names[-1]}`"
        raise PydanticCustomError("one_of", "needs {listed}", {"listed": listed})


class Readiness(Model):
    """When a service takes clients: it listens, or a command exits with status 0."""

    port: Label | None = None
    socket: Label | None = None
    command: Argv | None = None
    timeout: Duration | None = None

    @model_validator(mode="after")
    def _check(self) -> "Readiness":
        _check_one_form(self, ("port", "socket", "command"), 1)
        return self


class StopRequest(Model):
    """A signal or a command that asks a service to end."""

    signal: Literal["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2"] | None = None
    command: Argv | None = None
    timeout: Duration | None = None

    @model_validator(mode="after")
    def _check(self) -> "StopRequest":
        _check_one_form(self, ("signal", "command"), 0)
        return self


class Service(Model):
    """A server program that is started for each stage of a build."""

    argv: Argv
    option: Annotated[tuple[Label, ...], Field(min_length=1)] | None = None  # the words that set one option
    env: FreeMap = Field(default_factory=dict)
    ready: Readiness
    stop: StopRequest = Field(default_factory=StopRequest)


class Newest(Model):
    """Newest releases that the registry of a build's source lists, in place of versions by name."""

    newest: Number
    of: Literal["all", "each major", "each minor"] = "all"
    from_: Version | None = Field(default=None, alias="from")


Versions = Annotated[
    Annotated[tuple[Version, ...], Field(min_length=1), Tag("list")] | Annotated[Newest, Tag("map")],
    Discriminator(lambda value: "map" if isinstance(value, Map) else "list"),
]


class SpecBuild(Model):
    engine: Label | None = None
    version: Version | None = None
    versions: Versions | None = None
    source: dict[str, Json] | None = None
    extends: Label | None = None
    abstract: bool = False
    patches: tuple[Label, ...] = ()
    relinks: Count | None = None  # links of one program, for one load after the other
    flags: dict[str, Annotated[Label, accepts(Label | tuple[Label, ...])]] = {}
    extensions: dict[str, Label] = {}
    requirements: Label | Annotated[tuple[Label, ...], Field(min_length=1)] | None = None
    service: Service | None = None
    options: Options = ()
    params: FreeMap = {}

    @model_validator(mode="after")
    def _check(self) -> "SpecBuild":
        if self.version is not None and self.versions is not None:
            raise sentence_error("not_both", "it has both `version` and `versions`: keep one")
        return self


class OptionSet(Model):
    engine: Label | tuple[Label, ...] | None = None
    when: Label | None = None
    extends: Label | None = None
    when_unsupported: Literal["drop"] | None = None
    options: FreeMap = {}


class SpecEqual(Model):
    """Options that mean the same in every engine, each of which has its own names for them."""

    memory: Label | None = None  # of its cache
    durability: Label | None = None  # none, os or sync: the failures that a write survives

    @property
    def words(self) -> dict[str, Text]:
        return {name: node for name, node in vars(self).items() if node is not None}


class SpecSearch(Model):
    """A variable of a live grid whose values are chosen while it runs."""

    param: Name | None = None
    search: Annotated[tuple[Label, ...], Field(min_length=2, max_length=2)]
    for_: Label = Field(alias="for")
    points: Count = 10


class SpecShare(Model):
    """A variable of a live grid whose values are shares of the rate that a step reached."""

    param: Name | None = None
    percent: Annotated[SomeLabels, BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)]
    of: Name


def _variable_form(value: Any) -> str:
    if not isinstance(value, Map | SpecSearch | SpecShare):
        return "values"
    return "a share" if isinstance(value, SpecShare) or {"percent", "of"} & {*value} else "a search"


Variable = Annotated[
    Annotated[SpecSearch, Tag("a search")]
    | Annotated[SpecShare, Tag("a share")]
    | Annotated[tuple[Label, ...], Tag("values")],
    Discriminator(_variable_form),
    accepts(SpecSearch | SpecShare | tuple[Label, ...] | Label),
]


class SpecStep(Model):
    """A step or its use; keys that are not named here are settings of the step's kind."""

    model_config = ConfigDict(extra="allow")

    use: Name | None = None
    name: Name | None = None
    checkpoint: Name | None = None
    kind: Label | None = None
    as_: Name | None = Field(default=None, alias="as")
    when: Label | None = None
    times: Count | None = None
    for_: dict[str, Variable] | None = Field(default=None, alias="for")
    warmup: Duration | None = None
    until: Literal["steady", "duration"] | None = None
    measured: bool | None = None
    mutates: bool | None = None
    # assertions over its figures; of a checkpoint, over those of the step before it
    expects: Annotated[tuple[Label, ...] | None, accepts(tuple[Label, ...] | Label | None)] = None
    companions: "tuple[CompanionUse, ...] | None" = Field(default=None, alias="beside")  # that run at the same time
    params: FreeMap = {}
    options: Options = ()
    _nodes: Map | None = PrivateAttr(None)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_nodes(cls, value: Any, validate: "ModelWrapValidatorHandler[SpecStep]") -> "SpecStep":
        step = validate(value)
        if isinstance(value, Map):
            step._nodes = value
        return step

    @property
    def where(self) -> Location | None:
        return self._nodes.where if self._nodes is not None else None

    def node(self, name: str) -> Node:
        """Return the value of a key as it was read."""
        return self._nodes.get(name) if self._nodes is not None else None

    def key_location(self, name: str, default: Location) -> Location:
        return self._nodes.at.get(name, default) if self._nodes is not None else default


class BesideStep(SpecStep):
    """A step that runs at the same time as the one that lists it."""

    at: Duration = Field(default=0.0, ge=0)  # since the start of that step, or since the end of `after`
    period: Duration | None = Field(default=None, alias="every", ge=1)  # from the start of a round to the next
    after: Label | None = None  # another of the list, when it has ended
    wait: bool = True  # else the end of the step stops it
    cpus: Processors | None = None  # a list such as 0-3,8


# names its short form in pydantic's way, as it contains itself
CompanionUse = Annotated[BesideStep, BeforeValidator(lambda value: value, json_schema_input_type=BesideStep | Label)]
Steps = tuple[Annotated[SpecStep, accepts(SpecStep | Label)], ...]


class SpecPoint(Model):
    """A point of an axis: a patch."""

    hardware: HardwareUse = None
    build: Label | None = None
    params: FreeMap = {}
    options: Options = ()
    launch: Launch | None = None
    start: Start | None = None
    when: Label | None = None
    when_unsupported: Literal["drop"] | None = None


class PointGroup(SpecPoint):
    """Generated points: one for each value."""

    values: Annotated[tuple[Any, ...], Field(min_length=1, alias="each")]
    as_: Label = Field(alias="as")
    name: Label


class AxisScope(Model):
    from_: Label | None = Field(default=None, alias="from")
    steps: tuple[Label, ...] | None = None


Points = dict[str, SpecPoint]


class SpecAxis(AxisScope):
    builds: tuple[Label, ...] | None = None
    points: Annotated[Points, accepts(Points | tuple[PointGroup, ...])] | None = None
    groups: tuple[PointGroup, ...] = ()
    option: Label | None = None
    param: Label | None = None
    values: tuple[Name, ...] | None = None


class NamedPoints(AxisScope):
    """Short form of an axis: its points by name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: Points


class GeneratedPoints(AxisScope, PointGroup):
    """Short form of an axis: one group, with or without named points."""

    points: Points | None = None


AxisForm = SpecAxis | tuple[Name, ...] | NamedPoints | GeneratedPoints


class SweepForms(Model):
    """Axes with their short forms; the axis `build` lists families and builds."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, AxisForm]
    build: AxisForm | Label | None = None


Loads = Annotated[int, Field(ge=2, le=100)]  # one load has no interval


def _read_width(value: object) -> object:
    """Read the width of an interval, which is a share: 2% is 0.02."""
    if not isinstance(value, str) or value in ("decided", "best"):
        return value
    try:
        width = units.quantity(value, "percent") / 100 if value.rstrip().endswith("%") else 0
    except units.UnitError:
        width = 0
    if width <= 0:
        expected = "expected `decided`, `best`, or the width of an interval such as 2%"
        raise sentence_error("wrong_unit", f"{expected}, found `{value}`")
    return width


class SpecRepeat(Model):
    """`repeat`: a number of loads, or loads until there is a verdict, a narrow interval, or the best of all cells."""

    loads: Count = 1
    runs: Count = 1
    until: Annotated[Literal["decided", "best"] | float, BeforeValidator(_read_width)] | None = None
    least: Loads = 3  # 1 in a race, where those of all cells show the noise together
    most: Loads = 12  # 8 in a race: an arm that is open then is hardly worth more
    within: Duration | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _check(self) -> "SpecRepeat":
        if self.until is None:
            if names := [name for name in ("least", "most", "within") if name in self.model_fields_set]:
                message = f"`{names[0]}` needs `until`, such as `until: decided` or `until: 2%`"
                raise sentence_error("needs_key", message)
        elif "loads" in self.model_fields_set:
            raise sentence_error("not_both", "it has both `loads` and `until`: keep one")
        elif self.fewest > self.highest:
            message = f"`least` is {self.fewest}, `most` is {self.highest}: expected `least` to be no larger"
            raise sentence_error("out_of_order", message)
        return self

    @property
    def adaptive(self) -> AdaptiveRepeat | None:
        if self.until is None:
            return None
        width = self.until if isinstance(self.until, float) else None
        return AdaptiveRepeat(self.fewest, self.highest, width, self.within, self.until == "best")

    @property
    def fewest(self) -> int:
        """Loads that every cell gets."""
        in_race = self.until == "best" and "least" not in self.model_fields_set
        return self.loads if self.until is None else 1 if in_race else self.least

    @property
    def highest(self) -> int:
        """Loads that no cell exceeds."""
        in_race = self.until == "best" and "most" not in self.model_fields_set
        return self.loads if self.until is None else 8 if in_race else self.most


class SpecDesign(Model):
    """`design`: how the points of a large grid that are measured are chosen; a number where the design takes one."""

    name: Name
    number: Annotated[int, Field(ge=0)] = 0  # 0: none


class SpecProbe(Model):
    """A small command that is timed before or after steps; its name is a metric, in seconds."""

    name: Name
    before: Labels = ()
    after: Labels = ()
    sql: Label | None = None
    command: tuple[Label, ...] | None = None
    counters: Labels = ()  # of the server, by name, pattern or table: their growth around the probe


class SpecCollector(Model):
    """A program that observes steps while they run. Its cost is in their figures, and the report says so."""

    name: Name | None = None  # else the name of its kind
    collector: Label | None = None
    command: tuple[Label, ...] | None = None
    steps: Labels = ()
    frequency: Count | None = None  # samples a second
    call_graph: Literal["fp", "dwarf", "lbr"] | None = None
    events: Labels = ()
    every: Duration | None = None
    settings: dict[str, Json] = {}  # of its own, which its kind names


CollectorUse = Annotated[SpecCollector, accepts(SpecCollector | Label)]
Collectors = Annotated[tuple[CollectorUse, ...], accepts(tuple[CollectorUse, ...] | CollectorUse)]


class Profile(Model):
    """Stages that run again under a profiler when verdicts are there, outside of figures."""

    where: Annotated[tuple[Label, ...], accepts(tuple[Label, ...] | Label)] = ()  # changed, all, or steps
    length: Duration = Field(default=15.0, alias="for", gt=0)  # how long each window is
    period: Duration = Field(default=60.0, alias="every", gt=0)  # from the start of one window to that of the next
    frequency: Count = 499  # samples a second
    call_graph: Literal["fp", "dwarf", "lbr"] | None = None
    groups: tuple[tuple[Label, ...], ...] = ()  # of events that are counted, one group in each window


Filter = dict[str, Label | tuple[Label, ...]]  # axis (or `step`) -> a label, or any of several


class SpecTable(Model):
    """A table of the report; one that names a layout may omit all other keys."""

    title: Title | None = None
    layout: Label | None = None
    rows: SomeLabels | None = None
    columns: Labels = ()
    by: Labels = ()
    where: Filter = {}
    metrics: Labels = ()
    counters: Labels = ()  # of servers and probes, by pattern; for the layout of that name
    top: Count | None = None  # the number of counters: the largest
    base: dict[str, Label] | None = None
    labels: dict[str, Name] = {}
    # the length of the end of a step; or its beginning and its end
    window: Annotated[tuple[Label, ...], Field(min_length=1, max_length=2), accepts(tuple[Label, ...] | Label)] = ()
    _location: Location | None = PrivateAttr(None)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_location(cls, value: Any, validate: "ModelWrapValidatorHandler[SpecTable]") -> "SpecTable":
        table = validate(value)
        if isinstance(value, Map):
            table._location = value.where
        return table

    @property
    def location(self) -> Location:
        return self._location or Location("", 1, 1)


class SpecClaim(Model):
    claim: Annotated[str, Field(min_length=1)]
    expect: Label
    where: Filter = {}
    confirm: Loads | None = None  # fresh loads that must fail it, too


class SpecBest(Model):
    """`best: {qps: max, where: "database_bytes < 2GiB"}`: which cells are the best ones."""

    metric: Label
    aim: Literal["max", "min"]
    where: Label | None = None
    step: Label | None = None


class SpecMetric(Model):
    """A metric that is computed of others, of each run."""

    formula: Label = Field(alias="from")
    unit: str = ""
    better: Literal["higher", "lower"] | None = None


class SpecTune(Model):
    """`tune`: a search for the best values of options; language/spec_file.py writes out what it stands for."""

    goal: Label | None = Field(default=None, alias="for")
    pareto: tuple[Label, ...] | None = None
    over: Annotated[dict[str, tuple[Name, ...]], Field(min_length=1)]
    step: Label | None = None
    from_: Label | None = Field(default=None, alias="from")
    budget: Duration | None = Field(default=None, gt=0)  # for all that it measures
    tries: Annotated[int, Field(ge=4, le=1000)] | None = None
    confirm: Loads = 5  # fresh loads of the finalists and the base


class SpecReport(Model):
    base: dict[str, Label] = {}
    metric: Annotated[Label | None, Field(description="the metric that the report leads with, such as p99_us")] = None
    smallest_effect: Annotated[float, Field(ge=0, lt=1)] = SMALLEST_EFFECT
    tables: tuple[Annotated[SpecTable, accepts(SpecTable | Label)], ...] = ()
    best: Annotated[SpecBest | None, accepts(dict[str, Label])] = None
    pareto: Annotated[tuple[Label, ...], Field(min_length=2, max_length=3)] | None = None


class Definitions(Model):
    hardware: dict[str, Hardware] = {}
    builds: dict[str, SpecBuild] = {}
    options: dict[str, OptionSet] = {}
    workloads: dict[str, Steps] = {}


for _part in (Hardware, SpecBuild, OptionSet, SpecStep, Definitions):
    _part.model_rebuild()  # once for the models below, and for their use alone


class Library(Model):
    include: Labels = ()
    define: Definitions = Field(default_factory=Definitions)


class Spec(Library):
    spec: Literal["1"] | None = None
    title: Title
    hardware: HardwareUse = None
    builds: Annotated[dict[str, SpecBuild], Field(min_length=1)]
    equal: SpecEqual | None = None
    options: Options = ()
    params: FreeMap = {}
    workload: Label | None = None
    steps: Steps | None = None
    sweep: Annotated[dict[str, SpecAxis], accepts(SweepForms)] = {}
    design: Annotated[SpecDesign | None, accepts(Label | Annotated[dict[str, Count], Field(max_length=1)])] = None
    tune: SpecTune | None = None
    exclude: Labels = ()
    also: Annotated[tuple[dict[str, Label], ...], accepts(tuple[dict[str, Label], ...] | dict[str, Label])] = ()
    repeat: Annotated[SpecRepeat, accepts(SpecRepeat | Label)] = Field(default_factory=SpecRepeat)
    share: bool = True
    launch: Launch = Field(default_factory=Launch)
    start: Start | None = None
    probes: tuple[SpecProbe, ...] = ()
    collectors: Collectors = ()
    profile: Annotated[Profile | None, accepts(Profile | Label)] = None
    metrics: dict[str, SpecMetric] = {}  # computed of others
    claims: tuple[SpecClaim, ...] = ()
    allow: dict[str, Annotated[str, Field(min_length=1)]] = {}
    strict: Literal["same-quality"] | None = None
    compare_within: Duration | None = Field(default=None, gt=0)
    order: Literal["randomized", "interleaved", "as_written"] = "randomized"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    report: SpecReport = Field(default_factory=SpecReport)
    scales: dict[str, Json] = {}
