"""Protocols of a driver, one module per step kind; and tools to make its command and read its output.

Its planning half is all that `check` and `plan` need. The running half, a command and the parser of its output, is
there for the kinds that this version runs: a kind that is only declared does not have it.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from stepgrid.model.plan import SYSTEM_PATH, Command, Value
from stepgrid.model.records import Json, StepSetup
from stepgrid.package import INTERPRETER, PACKAGE

if TYPE_CHECKING:
    from pydantic import BaseModel

    from stepgrid.model.figures import Figures, PrintedStep
    from stepgrid.model.metrics import MetricSet
    from stepgrid.model.plan import PlannedStep
    from stepgrid.plugins.server import Access


class Context(NamedTuple):
    """Facts of a stage that the runner gives a driver to make a command of."""

    programs: Mapping[str, Sequence[str]]  # program name -> argv prefix, from the build record
    version: str  # of the binary
    data: Path  # the live database directory
    folder: Path  # where this step's files go
    seed: int
    server: Access | None = None  # of an engine that is a server: the one that was started for the stage
    server_pid: int | None = None  # of that server, where its processes can be looked at
    client_version: str | None = None  # of the step's client, where that is a build of its own
    inputs: Mapping[str, str] = {}  # files that its command reads: the names that the spec gives them -> absolute paths
    cache: Path | None = None  # of the kind: for what its clients derive once, for all stages


class RefusedError(Exception):
    """A step that is not started: a sentence that says why."""


class Driver(Protocol):
    """The planning half."""

    kind: str
    revision: int  # of the command: identity
    reserved: Mapping[str, str]  # options that a spec may not give -> the setting that it is; "" = the driver's own

    def settings_model(self) -> type[BaseModel]: ...

    def seed_key(self, settings: Mapping[str, Json]) -> str:
        """Name what the step does, for seeds: equal in every arm of a comparison (db_bench: the first benchmark)."""
        ...

    def estimate(self, settings: Mapping[str, Json]) -> float:
        """Estimate the seconds that the step will take, roughly."""
        ...


class PackageDriver:
    """Base of drivers that are packages: a module of each part, imported when the part is asked for."""

    reserved: Mapping[str, str] = {}

    def settings_model(self) -> type[BaseModel]:
        """Return the class of the module `settings` whose name ends in `Settings`."""
        module = import_module(f"{self.__module__}.settings")
        values = (value for name, value in vars(module).items() if name.endswith("Settings"))
        model: type[BaseModel] = next(value for value in values if value.__module__ == module.__name__)
        return model


class PackageRunner(PackageDriver):
    """Base of packages of a kind that this version runs."""

    def parse(self, folder: Path, settings: Mapping[str, Json]) -> Figures:
        figures: Figures = import_module(f"{self.__module__}.parser").parse(folder, settings)
        return figures


class ParserMetrics:
    """Base of packages whose kind has metrics of its own: METRICS of the parser."""

    def metrics(self) -> MetricSet:
        metrics: MetricSet = import_module(f"{self.__module__}.parser").METRICS
        return metrics


class ParserOutput:
    """Base of packages whose parser reads existing outputs: `printed` of the parser."""

    def printed(self, path: Path) -> Sequence[PrintedStep]:
        steps: Sequence[PrintedStep] = import_module(f"{self.__module__}.parser").printed(path)
        return steps


@runtime_checkable
class RunningDriver(Protocol):
    """The running half."""

    parser: int  # of the parser: metrics are collected again when it is raised, nothing is measured again

    def command(self, settings: Mapping[str, Json], options: Mapping[str, Value], context: Context) -> Command: ...

    def parse(self, folder: Path, settings: Mapping[str, Json]) -> Figures:
        """Read the step's folder: stdout, stderr, and files of its own that the command named there."""
        ...


@runtime_checkable
class ForeignEngines(Protocol):
    """A kind that runs on engines of other packages, which do not name it."""

    engines: tuple[str, ...]


@runtime_checkable
class DefaultTables(Protocol):
    """A kind whose steps have tables in a report whose spec names none."""

    tables: tuple[str, ...]  # layouts; one that would be empty is left out


@runtime_checkable
class LiveThroughput(Protocol):
    """A kind that can tell how fast a step is while it runs."""

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        """List (seconds since the start, operations per second) of the newest intervals, oldest first.

        Called every second beside a measurement: of a file it reads the end and no more.
        """
        ...


@runtime_checkable
class LiveWait(Protocol):
    """A kind that waits, and can tell for what while it does."""

    def waits_for(self, folder: Path) -> str:
        """Say what the step waits for; empty while that is unknown. Called as often as `LiveThroughput.live`."""
        ...


@runtime_checkable
class ServerRestarts(Protocol):
    """A kind whose steps end the server of their stage, once: it is started again at once, on the same files."""

    server_folder: str  # in the step's: `stderr` of the server since it was started again


POWER = "power"  # the value of a setting


@runtime_checkable
class PowerCuts(Protocol):
    """A kind some of whose steps cut the power of the disk that the database is on."""

    power_setting: str  # it is POWER in such a step


class DeclaredBuild(Protocol):
    """A build, as the spec declares it."""

    @property
    def engine(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def source(self) -> Mapping[str, Json]: ...


@runtime_checkable
class StepDescriber(Protocol):
    """A kind that knows more of a step than its settings say: for rules about steps."""

    def facts(self, settings: Mapping[str, Json], build: DeclaredBuild) -> Mapping[str, object]:
        """Return the same names for every step, and None for what is unknown."""
        ...


class CountedWork(NamedTuple):
    """Operations that end a step, and the seconds that they take on a small machine."""

    setting: str
    operations: float
    seconds: float


@runtime_checkable
class Counting(Protocol):
    """A kind some of whose steps end after so many operations."""

    def counted_work(self, settings: Mapping[str, Json]) -> CountedWork | None:
        """Return the work of a step; None where something else ends it."""
        ...


@runtime_checkable
class FailureExplainer(Protocol):
    """A kind whose program says in its output why it failed."""

    def complaint(self, folder: Path) -> str | None:
        """Find why a program ended with an error, as a sentence; None if its output does not say it."""
        ...


@runtime_checkable
class HitRates(Protocol):
    """A kind that says how many of its lookups should find a key: a read that finds nothing is no figure of a read."""

    def hit_rates(self, steps: Sequence[PlannedStep]) -> Sequence[float | None]:
        """Compute a share for each step of a sequence that begins without a database; None if it is unknown."""
        ...


class SqlOperations(NamedTuple):
    """Operations of an SQL server: which workloads of a kind run each, separated by blanks."""

    point_read: str = ""
    short_range: str = ""
    full_scan: str = ""
    insert: str = ""
    update_of_an_indexed_column: str = ""
    other_update: str = ""
    delete: str = ""
    transaction_of_several_statements: str = ""


class KeyValueOperations(NamedTuple):
    """Operations of a key-value store, likewise."""

    point_read: str = ""
    short_range: str = ""
    full_scan: str = ""
    insert: str = ""
    update: str = ""
    merge: str = ""
    delete: str = ""
    transaction: str = ""


@runtime_checkable
class WorkloadOperations(Protocol):
    """A kind that knows which operations its steps run: a report names those that no step measures."""

    operations: SqlOperations | KeyValueOperations

    def workloads(self, settings: Mapping[str, Json]) -> Sequence[str] | None:
        """Name the workloads of a step; None if the spec brings them."""
        ...


@runtime_checkable
class DerivedFigures(Protocol):
    """A kind some of whose figures are made of those of its output and of the host together."""

    def derived(self, metrics: Mapping[str, float]) -> Mapping[str, float]: ...


TARGET = "target_"  # `target_x` is a target of `x`


@runtime_checkable
class RateTargets(Protocol):
    """A kind whose steps may be asked for a rate."""

    def targets(self, settings: Mapping[str, Json]) -> Mapping[str, float]:
        """Return the requested rates by metric."""
        ...


@runtime_checkable
class Waiting(Protocol):
    """A kind whose steps wait until the engine has nothing left to do."""

    waited: str  # the metric that says how long that took; a step that it was too long for has none


@runtime_checkable
class ClientBuild(Protocol):
    """A kind whose program is a build of its own: the step's setting `client` is its name; None: it has none."""

    client: str  # the engine that such a build is of


@runtime_checkable
class StepFiles(Protocol):
    """A kind whose steps need files: they are in the step's folder when its command starts."""

    def files(self, settings: Mapping[str, Json], read_file: Callable[[str], str]) -> Mapping[str, str]:
        """Name in the step's folder -> text. Called when the spec is planned: the text is part of the identity.

        `read_file` gives the text of a file that the spec brings, by its name; what it raises is the caller's.
        """
        ...


@runtime_checkable
class InputFiles(Protocol):
    """A kind whose commands read files where they lie: what is in them is part of the identity.

    Its setting `files` lists them; the names are no part of the identity.
    """

    def words(self, settings: Mapping[str, Json]) -> Sequence[str]:
        """List the words that may name a file."""
        ...

    def listed(self, settings: Mapping[str, Json]) -> Sequence[str]:
        """List the files and folders that must exist."""
        ...


@runtime_checkable
class OptionFiles(Protocol):
    """A kind whose program does not start without the files that some options name."""

    def read_options(self, settings: Mapping[str, Json]) -> Sequence[str]:
        """List these options."""
        ...


class SampleFigure(NamedTuple):
    """A figure that a step declares, as a sample of its output has it."""

    name: str
    figure: float | None = None
    unit: str = ""
    fault: str = ""  # why there is none
    nearest: str = ""  # the line of the sample that is most like what was looked for


@runtime_checkable
class OutputReader(Protocol):
    """A kind with settings that decide what is read of a step's output, and nothing of what is run."""

    reading: tuple[str, ...]  # no part of the identity: the kept output is read again where they change

    def read_sample(self, folder: Path, settings: Mapping[str, Json]) -> Iterable[SampleFigure]:
        """Read what the settings declare from a sample of the output: `stepgrid check SPEC --try FILE`."""
        ...


@runtime_checkable
class Placeholders(Protocol):
    """A kind with settings in whose words names in braces are filled in."""

    def placeholders(self, server: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Setting -> the names that there are. `server`: those by which the server of the stage is found."""
        ...


@runtime_checkable
class PrintedFigures(Protocol):
    """A kind whose program prints figures on lines of their own, for readers without regular expressions."""

    def printed_figures(self, settings: Mapping[str, Json]) -> Mapping[str, tuple[str, ...]]:
        """Map metrics to the texts that stand before their number, in their order; an empty first one: anywhere."""
        ...


@runtime_checkable
class StandaloneOutput(Protocol):
    """A kind whose output can be read without the step that made it: `stepgrid parse KIND FILE`."""

    def printed(self, path: Path) -> Sequence[PrintedStep]:
        """Every step that the log holds, in its order. ParseError where it is none: what was looked for."""
        ...


class Runner(Driver, RunningDriver, Protocol):
    """Both halves: a kind that this version runs."""


# The words of a command: placeholders replaced, never a shell

OPTION_FORM = ("--{name}={value}",)  # how one option is written
PLACEHOLDERS = ("data", "folder", "seed", "options", "program:NAME")
SERVER_PLACEHOLDERS = ("host", "socket", "sockets", "port", "user", "database")
SERVICE_PLACEHOLDERS = ("host", "port", "socket", "sockets")  # of a build's `service`, which is told where to listen
PID_PLACEHOLDER = "pid"  # of a collector: the engine's process

_PLACEHOLDER = re.compile(r"\{(data|folder|seed|options|program:([^{}]+))\}")
_SIMILAR = re.compile(r"(?<![$%#@\\])\{([A-Za-z_]\w*)(:[^{}]*)?\}")  # other programs have ${x} and %{x}
_SCRIPT_CUTOFF = 0.8  # how near to a placeholder a name in the braces of a script must be: it may be the script's own
_ESCAPE = "`{ … }` with a space inside is left as it is"


def command_words(
    words: Sequence[str],
    options: Mapping[str, Value],
    context: Context,
    extra: Mapping[str, str] | None = None,
    option_form: Sequence[str] = OPTION_FORM,
) -> tuple[str, ...]:
    """Fill in placeholders; `extra`: further ones with their values."""
    filled = [_fill(word, extra) for word in words] if extra else words
    written = [
        _fill(word, {"name": name, "value": as_text(value)}) for name, value in options.items() for word in option_form
    ]
    return tuple(text for word in filled for text in _expand(word, written, context))


def as_text(value: Any) -> str:
    """Write a value as programs read it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def possible_files(words: Sequence[str]) -> list[str]:
    """Select words that may name a file: few files have neither a dot nor a slash; the program is found on PATH."""
    named = [word for n, word in enumerate(words) if "/" in word or (n and "." in word)]
    return [word for word in named if not _PLACEHOLDER.search(word)]


def absolute_inputs(setup: StepSetup) -> dict[str, str]:
    """Give files that words of a step's commands name, which run in another folder, their absolute paths."""
    paths = setup.paths
    names = dict.fromkeys((*setup.inputs, *possible_files(["", *paths])))
    return {name: str(Path(paths[name]).absolute()) for name in names}


def possible_file_names(words: Sequence[str]) -> list[str]:
    """List whatever may be the name of a file: each word, and what follows its `=`."""
    parts = [part for word in words for part in dict.fromkeys((word, word.partition("=")[2]))]
    return [part for part in parts if part.strip("./") and "\n" not in part and not _PLACEHOLDER.search(part)]


def find_on_path(program: str, folders: str | None = None) -> str | None:
    """Find a program of PATH. `folders`: what the spec says of PATH."""
    if not program or "/" in program or _PLACEHOLDER.search(program):
        return None
    users, system = os.get_exec_path(), SYSTEM_PATH.split(":")
    listed = [*users, *system] if folders is None else folders.split(":")
    paths = [f"{folder}/{program}" for folder in listed]  # some folders of PATH may be closed to us
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)  # noqa: PTH113


def named_programs(words: Sequence[str]) -> list[str]:
    """List the programs of the build that words name."""
    return [match[2] for word in words for match in _PLACEHOLDER.finditer(word) if match[2] is not None]


def misplaced_placeholder(words: Sequence[str]) -> str | None:
    """Find a placeholder that stands for several words inside of one."""
    for word in words:
        for match in _PLACEHOLDER.finditer(word):
            if (match[1] == "options" or match[2] is not None) and match[0] != word:
                return match[0]
    return None


def unknown_placeholders(word: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """List unknown placeholders, each with a hint; in a script, which has braces of its own, only near misses."""
    from difflib import get_close_matches

    heads = {name.partition(":")[0]: name for name in names}
    is_script = bool(re.search(r"\s", word))
    for match in _SIMILAR.finditer(word):
        name, argument = match[1], match[2]
        if name in heads and (":" in heads[name]) == bool(argument and len(argument) > 1):
            continue
        near = get_close_matches(name, heads, 1, _SCRIPT_CUTOFF if is_script else 0.6)
        if near or not is_script:
            hint = f"known here: {' '.join(f'{{{known_name}}}' for known_name in names)}; {_ESCAPE}"
            if name in SERVER_PLACEHOLDERS and not {*SERVER_PLACEHOLDERS} & {*names}:
                hint = f"only servers have it; {hint}"
            elif near:
                hint = f"did you mean `{{{heads[near[0]]}}}`? {hint}"
            yield match[0], hint


def _fill(word: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), word)


def _expand(word: str, options: Sequence[str], context: Context) -> Iterator[str]:
    match = _PLACEHOLDER.fullmatch(word)
    if word in context.inputs:
        yield context.inputs[word]
    elif match and match[2] is not None:
        if match[2] not in context.programs:
            programs = ", ".join(context.programs) or "none"
            raise LookupError(f"the build has no program `{match[2]}`; it has: {programs}")
        yield from context.programs[match[2]]
    elif match and match[1] == "options":
        yield from options
    else:
        values = {"data": context.data, "folder": context.folder, "seed": context.seed}
        yield _PLACEHOLDER.sub(lambda match: str(values[match[1]]), word)


# Requests: a step asks a server by a program of ours, told what to do by a file that only its owner may read

REQUEST = "request.json"
Request: TypeAlias = Mapping[str, object]  # as json.dumps takes it


def server_request(module: str, context: Context, request: Request, duration: float | None = None) -> Command:
    """Make `python -m MODULE` in the step's folder. ValueError if no server was started."""
    if context.server is None:
        raise ValueError("it needs a server, and the engine of this build is none")
    return program_request(module, context, request, duration)


def program_request(module: str, context: Context, request: Request, duration: float | None = None) -> Command:
    """Make the same of a program that can do without a server."""
    access = context.server._replace(listen="", client="")._asdict() if context.server else None
    text = json.dumps({"access": access, **request}, default=str, indent=1)
    # where this program is, and what it was started with: little else of our environment reaches a step
    paths = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))
    return Command((*INTERPRETER, module), {"PYTHONPATH": paths}, duration, {REQUEST: f"{text}\n"})


def read_request(folder: Path) -> tuple[Access | None, dict[str, Any]]:
    """Read, in that program, the request of its folder."""
    from stepgrid.plugins.server import Access

    request = take_request(folder)
    access = request.pop("access")
    if access is None:
        return None, request
    return Access(**{**access, "sockets": Path(access["sockets"]), "socket": Path(access["socket"])}), request


def take_request(folder: Path) -> dict[str, Any]:
    """Read a request, and write it again without the password."""
    path = folder / REQUEST
    request: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if (access := request["access"]) is not None and access["password"]:
        public = {**request, "access": {**access, "password": ""}}
        path.write_text(json.dumps(public, indent=1) + "\n", encoding="utf-8")
    return request


def forget_password(folder: Path) -> None:
    """Remove the password of a request that no program came to read."""
    with suppress(OSError, ValueError, KeyError):
        take_request(folder)


def last_complaint(folder: Path, beginning: str) -> str | None:
    """Find why that program failed: the last sentence of this beginning in stderr."""
    try:
        lines = (folder / "stderr").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line for line in reversed(lines) if line.startswith(beginning)), None)


# Raw output: plain or gzipped, of regular files alone, and no more than a bound

LARGEST = 512 << 20  # bytes, unpacked: a gigabyte of zeros is a megabyte of gzip
GZ = ".gz"


class RawOutputError(OSError):
    """A file that is not read: a sentence that says why."""


def is_inside(folder: Path, name: str) -> bool:
    """Check that what a program wrote is read from its own folder, wherever links lead."""
    root = os.path.realpath(folder)
    return os.path.commonpath((root, os.path.realpath(f"{root}/{name}"))) == root


def read_output(path: Path, largest: int = LARGEST) -> bytes:
    return b"".join(output_lines(path, largest))


def output_lines(path: Path, largest: int = LARGEST) -> Iterator[bytes]:
    """Read a file. FileNotFoundError if it does not exist; RawOutputError says what else is wrong with it."""
    import gzip
    import zlib

    from stepgrid.model.units import size

    descriptor, room = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), largest  # a pipe would wait
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RawOutputError("it is no regular file")
        lines = gzip.GzipFile(fileobj=file) if path.suffix == GZ else file
        try:
            while line := lines.readline(room + 1):
                room -= len(line)
                if room < 0:
                    raise RawOutputError(f"it has more than {size(largest)}")
                yield line
        except (OSError, EOFError, zlib.error) as error:
            raise RawOutputError(getattr(error, "strerror", None) or str(error)) from None
