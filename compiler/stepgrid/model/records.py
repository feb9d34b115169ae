"""Records: every JSON object that is written below outputs/ and read back. Reading one checks its types.

Keys that a record does not have are passed over, so that a later version may add some."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar

import msgspec

if TYPE_CHECKING:
    from dataclasses import replace as replace  # noqa: TID251  # mypy checks names and types of a Struct, too

    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    from msgspec.structs import replace as replace

    Json = Any  # msgspec knows no type that contains itself

Facts = Mapping[str, Json]  # rows of a table of facts, whose names their source gives
R = TypeVar("R")
Complete = Literal["done", "unsupported"]  # states of a result


NOTHING: tuple[object, ...] = (None, "", (), {})


class Record(msgspec.Struct, frozen=True):
    """A JSON object. Its text leaves out the fields of `sparse` that hold nothing."""

    sparse: ClassVar[frozenset[str]] = frozenset()

    def to_json(self) -> dict[str, Json]:
        names = zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True)
        values = ((name, getattr(self, field)) for name, field in names)
        return {
            name: plain(value)
            for name, value in values
            if name not in self.sparse or not (value is False or value in NOTHING)
        }


def plain(value: Any) -> Json:
    """Convert records and what holds them to what json.dumps takes."""
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, tuple | list) else value


def parse_record(text: bytes | str, kind: type[R]) -> R:
    """Parse a record. ValueError: it is damaged, or of another kind."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from None


def parse_names(text: bytes, kind: type[R]) -> R:
    """Parse a record with names of files that may be no text, which json.loads alone takes."""
    try:
        return msgspec.convert(json.loads(text), kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from None


def convert_record(value: object, kind: type[R]) -> R:
    """Convert what json.loads made to a record; an empty one where it is damaged."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return kind()


def unix_time(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return None


def minute(when: str) -> str:
    return f"{when[:16].replace('T', ' ')} UTC"


# A step of a plan: how its programs run


class PlannedRequest(Record, frozen=True):
    """A request of a spec; the text, which identity has, leaves out fields that the spec does not set."""

    def to_json(self) -> dict[str, Json]:
        values = ((name, plain(getattr(self, name))) for name in self.__struct_fields__)
        return {name: value for name, value in values if value}


class LaunchRequest(PlannedRequest, frozen=True, kw_only=True):
    cpus: str | None = None  # a list such as 0-3,8
    numa: str | None = None
    malloc: str | None = None
    memory: int | None = None  # bytes
    env: Mapping[str, str] = {}


class ProbeRequest(PlannedRequest, frozen=True, kw_only=True):
    name: str
    sql: str | None = None
    command: tuple[str, ...] = ()
    counters: str | tuple[str, ...] = ()


class Timing(PlannedRequest, frozen=True, kw_only=True):
    """When a step runs beside the step before it that has no such request."""

    number: int  # of those of one step, as the spec lists them, from 1
    at: float = 0.0  # seconds, since the start of the step or the end of `after`
    period: float | None = None  # seconds from the start of a round to that of the next
    after: int = 0  # the number of another
    stops: bool = False  # the end of the step stops it


class ServiceRequest(PlannedRequest, frozen=True, kw_only=True):
    """How a service is asked whether it is ready, or to stop."""

    command: tuple[str, ...] = ()
    port: str = ""
    socket: str = ""
    signal: str = ""
    timeout: float | None = None  # how long somebody waits changes no figure, and is no part of identity


class ServiceSetup(PlannedRequest, frozen=True, kw_only=True):
    """A build's server program: what it is started, reached and stopped by."""

    argv: tuple[str, ...]
    ready: ServiceRequest
    option: tuple[str, ...] = ()  # the words that set one option
    env: Mapping[str, str] = {}
    stop: ServiceRequest = ServiceRequest()


class StepSetup(PlannedRequest, frozen=True, kw_only=True):
    launch: LaunchRequest = LaunchRequest()
    start: str | None = None  # what the caches hold
    storage_engine: str | None = None
    storage_revision: int = 0  # of a server's configuration, where what is measured went by it
    service: ServiceSetup | None = None
    before: tuple[ProbeRequest, ...] = ()
    after: tuple[ProbeRequest, ...] = ()
    collectors: tuple[Mapping[str, Json], ...] = ()
    search: Mapping[str, Json] = {}
    timing: Timing | None = None  # of one that runs beside another
    client: str | None = None  # the id of its build
    files: Mapping[str, str] = {}  # name -> checksum
    inputs: Mapping[str, str] = {}  # name of a file that its command reads -> path
    # likewise of programs of PATH and files that other words name: a command gets these words unchanged
    named: Mapping[str, str] = {}
    until: str | None = None  # `steady`: its figure is of the part in which rate and debts do not change

    @property
    def paths(self) -> dict[str, str]:
        """Paths of all files that a step's command reads, by name."""
        return {**self.inputs, **self.named}

    @property
    def variables(self) -> list[tuple[str, str]]:
        """The variables that it gives to programs."""
        return [*self.launch.env.items(), *(self.service.env.items() if self.service else ())]


# Builds


class Artifact(Record, frozen=True):
    """A file or a commit that was fetched."""

    name: str = ""
    version: str = ""
    digest: str = ""  # a SHA-256, or a commit


class Patch(Record, frozen=True):
    path: str = ""
    sha256: str = ""


class Declaration(Record, frozen=True):
    """A build as its spec declares it: with engine and source the input of its id."""

    version: str = ""
    pin: str = ""
    recipe: Mapping[str, Json] = {}


class LocalFile(Record, frozen=True):
    """A program of the machine that a build consists of."""

    path: str
    bytes: int
    modified: int  # nanoseconds
    sha256: str


class BuildRecord(Record, frozen=True, kw_only=True, rename={"made_at": "made"}):
    """build.json"""

    sparse = frozenset({"checksum"})

    id: str = ""
    name: str = ""
    engine: str = ""
    version: str = ""  # as the binary says
    source: Mapping[str, Json] = {}
    declared: Declaration | None = None
    route: str = ""  # git, debian, …
    recipe: str = ""
    artifacts: tuple[Artifact, ...] = ()
    programs: Mapping[str, tuple[str, ...]] = {}  # argv prefix, with paths below the build's folder
    warnings: tuple[str, ...] = ()
    assertions: bool | None = None
    facts: Facts = {}
    quality: Facts | None = None  # of a published build nothing is known
    seconds: float | None = None
    waited: float = 0.0  # for the host, before it began
    made_at: str = ""
    checksum: str = ""  # of all its files, whatever their names

    @property
    def files(self) -> tuple[LocalFile, ...]:
        try:
            return tuple(msgspec.convert(self.facts.get("files") or {}, dict[str, LocalFile]).values())
        except msgspec.ValidationError:
            return ()

    @property
    def commit(self) -> str:
        return str(self.facts.get("commit") or "")


def recipe_patches(recipe: Mapping[str, Json]) -> tuple[Patch, ...]:
    return msgspec.convert(recipe.get("patches") or (), tuple[Patch, ...])


class OptionInfo(Record, frozen=True):
    """An option as the binary describes it: an entry of catalogue.json, which has its name beside it."""

    sparse = frozenset({"name", "least", "most", "choices"})

    name: str = ""
    type: str = ""
    default: str = ""
    help: str = ""
    least: str = ""  # of a number, as far as the binary tells
    most: str = ""
    choices: tuple[str, ...] = ()  # of an enumeration, likewise


class KnownReleases(Record, frozen=True):
    """Options that an engine documents for builds that are not made yet."""

    releases: Mapping[str, tuple[str, ...]]  # by engine
    options: Mapping[str, str]  # name -> type, empty where releases differ


Catalogue = Mapping[str, OptionInfo]
Catalogues = Mapping[str, Catalogue | None]  # by build; None: not known


# Attempts of builds and stages


class FailureRecord(Record, frozen=True, kw_only=True):
    """failure.json"""

    sparse = frozenset({"first_error"})

    node: str = ""
    attempt: str = ""
    status: str = ""  # failed, interrupted, broken
    step: str | None = None
    message: str = ""
    tail: str = ""  # of the log
    first_error: str = ""  # of a build's log
    log: str | None = None

    @property
    def line(self) -> str:
        """The line that says most."""
        return self.first_error or (self.tail.splitlines() or [""])[-1].strip()


Severity = Literal["ok", "warning", "unknown", "stops"]
OK: Severity = "ok"
WARNING: Severity = "warning"
UNKNOWN: Severity = "unknown"  # could not be looked at: never fine
STOPS: Severity = "stops"  # nothing can run


class HostFinding(Record, frozen=True, rename={"text": "said"}):
    """A fact of this host, its expected value, and the command that mends it."""

    sparse = frozenset({"value", "expected", "mend", "travels"})

    name: str
    severity: Severity
    text: str  # the observation, for a person
    value: Any = None  # the same as data; None where it is unknown
    expected: str = ""
    mend: str = ""  # the command, or what to do
    travels: bool = False  # as a warning it goes with the figures into the report

    @classmethod
    def unknown(cls, name: str, why: str = "this host does not say", expected: str = "") -> HostFinding:
        return cls(name, UNKNOWN, why, None, expected)


class NoiseRecord(Record, frozen=True, kw_only=True):
    """A look at the host before a stage."""

    sparse = frozenset({"warning", "fixed"})

    seconds: float = 0.0
    findings: tuple[HostFinding, ...] = ()
    warning: str | None = None
    fixed: Json = None


class AttemptRecord(Record, frozen=True, kw_only=True, rename={"request": "asked"}):
    """attempt.json"""

    sparse = frozenset({"stage", "attempt", "plan", "build", "clients", "cluster_node", "host", "image", "room"}) | {
        *("disk", "asked", "noise", "loading", "durability", "cache")
    }

    stage: str = ""
    attempt: str = ""
    plan: str = ""
    build: str = ""
    clients: tuple[str, ...] = ()  # builds of them
    started: str = ""
    pid: int | None = None
    hostname: str = ""
    cluster_node: str = ""  # what the cluster calls the machine
    host: Facts = {}
    image: Facts = {}  # how its database was made
    room: Facts = {}
    disk: Facts = {}
    request: Facts = {}  # who, when, why
    noise: NoiseRecord | None = None
    loading: Facts = {}
    durability: Mapping[str, str] = {}  # of a running server: promise -> class
    cache: Facts = {}

    @property
    def host_name(self) -> str | None:
        name = self.host.get("hostname")
        return name if isinstance(name, str) else None

    @property
    def warning(self) -> str:
        """Say what disturbed it."""
        return (self.noise.warning or "") if self.noise else ""


class JournalEvent(Record, frozen=True, kw_only=True):
    """A line of journal.jsonl, with the fields that are read again."""

    event: str
    t: float  # unix time
    name: str = ""
    kind: str = ""
    index: int | None = None
    of: int | None = None
    declared: float | None = None  # seconds
    seconds: float | None = None
    folder: str = ""
    pid: int | None = None
    stage: str = ""
    why: str = ""
    damaged: bool = False


class StepRecord(Record, frozen=True, kw_only=True):
    """step.json, and an entry of result.json"""

    sparse = frozenset(
        {"probes", "counters", "launch", "client", "search", "suspended", "warnings", "rounds", "stopped"}
    )

    name: str = ""
    kind: str = ""
    status: Literal["done", "failed"] = "done"
    exit: int | None = None
    overdue: bool = False
    started: str | None = None
    ended: str | None = None
    seconds: float | None = None
    waited: float = 0.0  # for collectors
    user: float | None = None  # CPU seconds
    system: float | None = None
    max_rss: int | None = None
    deadline: float | None = None
    dropped: tuple[str, ...] = ()  # options
    probes: Mapping[str, float] = {}  # seconds
    counters: Mapping[str, Mapping[str, float]] = {}  # growth, by probe
    launch: Facts = {}  # how the program was found to run
    client: str | None = None  # its build
    search: int | float | None = None  # the value that was tried
    suspended: float | None = None
    warnings: tuple[str, ...] = ()
    rounds: tuple[tuple[str, str], ...] = ()  # start and end of each, of a step that runs again and again
    stopped: bool = False  # with the step that it ran beside: its last round is not whole

    @property
    def cpu_seconds(self) -> float | None:
        """CPU time of its process and the children of that, as the kernel counted it."""
        return None if self.user is None or self.system is None else self.user + self.system

    @property
    def was_stopped(self) -> bool:
        """Tell whether the last round of a step beside another one is not whole; earlier records have no `stopped`."""
        return self.stopped or bool(self.exit)


class StoredFile(Record, frozen=True):
    """A file as it was when its result was published."""

    bytes: int
    sha256: str


Files = Mapping[str, StoredFile]  # path below a result -> its state


class ResultRecord(Record, frozen=True, kw_only=True):
    """result.json"""

    stage: str
    attempt: str = ""
    status: Complete
    reason: str | None = None
    started: str = ""
    ended: str = ""
    seconds: float | None = None
    waited: float = 0.0  # for the host, before it began
    build: str = ""
    steps: tuple[StepRecord, ...] = ()
    files: Files = {}


class CommandRecord(Record, frozen=True, kw_only=True):
    """command.json of a step, a server, a probe or a collector"""

    sparse = frozenset({"pids", "client"})

    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    environment: Mapping[str, str] = {}
    launch: Facts = {}
    pids: tuple[int, ...] = ()  # that a collector looks at
    client: int | None = None


# Images


class ImageState(Record, frozen=True, kw_only=True):
    """verified.json: the state of sound files"""

    boot: str = ""  # of the host, when they were compared
    times: Mapping[str, int] = {}


class ImageRecord(Record, frozen=True, kw_only=True, rename={"made_at": "made"}):
    """image.json"""

    stage: str = ""
    made_at: str = ""
    bytes: int = 0
    title: str = ""
    attempt: str = ""
    replayed: bool = False
    folders: tuple[str, ...] = ()  # parents before children
    files: Mapping[str, int] = {}
    links: Mapping[str, str] = {}
    boot: str = ""
    times: Mapping[str, int] = {}
    checksums: Mapping[str, str] = {}
    samples: Mapping[str, str] = {}


class DatabaseSizes(Record, frozen=True):
    bytes: tuple[int, ...] = ()


# Requests and notes


class RedoRequest(Record, frozen=True, kw_only=True, rename={"author": "who", "results": "beside"}):
    stage: str
    author: str
    when: str
    why: str
    results: tuple[str, ...]  # results that there were, retracted ones too

    @property
    def sentence(self) -> str:
        return f"asked for by {self.author}, {minute(self.when)}{f': {self.why}' if self.why else ''}"


class LoadRequest(Record, frozen=True, kw_only=True, rename={"other_loads": "others"}):
    """Loads of a cell that were asked for, steps to be profiled, and loads that came from other hosts."""

    sparse = frozenset({"why", "profile", "others", "points", "finalists"})

    loads: int = 0
    why: str = ""
    profile: tuple[str, ...] = ()
    other_loads: tuple[tuple[str, int], ...] = ()  # host, its number there
    points: tuple[Mapping[str, str], ...] = ()  # that a search has added; its file has the search's key
    finalists: tuple[str, ...] = ()  # of a search: the last stages of their first loads


class Retraction(Record, frozen=True, kw_only=True, rename={"author": "who"}):
    why: str
    author: str
    when: str

    @property
    def sentence(self) -> str:
        return f"retracted by {self.author}, {minute(self.when)}: {self.why}"


class UndoneRetractions(Record, frozen=True):
    retractions: tuple[str, ...] = ()


class RunRecord(Record, frozen=True):
    """A run that holds the lock of its checkout, or waits for it."""

    sparse = frozenset({"until", "stops"})

    pid: int
    started: datetime
    spec: str
    plan: str = ""  # its digest
    waited: float = 0.0  # seconds for its turn
    until: str = ""  # when it is to stop, as it was given
    stops: float | None = None  # unix time

    def to_json(self) -> dict[str, Json]:
        return {**super().to_json(), "started": self.started.astimezone(UTC).isoformat()}


class SkippedStage(Record, frozen=True):
    stage: str
    seconds: float | None


# This host: in its lock's file, and beside it


class HostUse(Record, frozen=True):
    """Estimate of the holder of the host, written when it began, for those who wait."""

    pid: int
    began: float  # unix time
    seconds: float | None = None  # of its stage; None where nothing is known of it
    run_seconds: float | None = None  # of all that is left of its run


class SpeedRecord(Record, frozen=True):
    """Speeds of this host, measured by stages since it was started, by volume."""

    boot: str | None = None
    volumes: Mapping[str, Mapping[str, float]] = {}


class ChangedSettings(Record, frozen=True):
    """Settings of this host that `noise: fix` changed: their files, with what has to be put back."""

    boot: str | None = None
    pid: int | None = None
    user: int | None = None
    before: Mapping[str, str] = {}


class ProbeAnswer(Record, frozen=True, kw_only=True):
    """All lines that the client of a probe printed."""

    seconds: float = 0.0
    before: Mapping[str, float] = {}  # counters
    after: Mapping[str, float] = {}
    missing: tuple[str, ...] = ()  # counters that the server lacks
