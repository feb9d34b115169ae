"""What a driver is: one module per step kind.

Its planning half is all that `check` and `plan` need. The running half, a command and the parser of its output, is
there for the kinds that this version runs: a kind that is only declared does not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from stepgrid.model.command import Command
from stepgrid.model.figures import Figures, PrintedStep

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
    cache: Path | None = None  # of the kind: for what its clients derive once, for all stages


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


class PackageDriver:
    """What drivers that are packages have in common: a module of each part, imported when the part is asked for."""

    reserved: Mapping[str, str] = {}

    def settings_model(self) -> type[BaseModel]:
        model: type[BaseModel] = import_module(f"{self.__module__}.settings").Settings
        return model


class PackageRunner(PackageDriver):
    """The same of a kind that this version runs."""

    def parse(self, folder: Path, settings: Mapping[str, Any]) -> Figures:
        figures: Figures = import_module(f"{self.__module__}.parser").parse(folder, settings)
        return figures


@runtime_checkable
class RunningDriver(Protocol):
    """The running half."""

    parser: int  # of the parser: metrics are collected again when it is raised, nothing is measured again

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command: ...

    def parse(self, folder: Path, settings: Mapping[str, Any]) -> Figures:
        """Reads the step's folder (stdout, stderr, and files of its own that the command named there)."""
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
        """(Seconds since the start, operations per second) of the newest intervals, oldest first.

        Asked every second beside a measurement: of a file it reads the end and no more.
        """
        ...


@runtime_checkable
class LiveWait(Protocol):
    """A kind that waits, and can tell for what while it does."""

    def waits_for(self, folder: Path) -> str:
        """Empty while there is nothing to tell. Asked as often as `LiveThroughput.live`."""
        ...


class DeclaredBuild(Protocol):
    """A build, as far as the spec tells."""

    @property
    def engine(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def source(self) -> Mapping[str, Any]: ...


@runtime_checkable
class StepDescriber(Protocol):
    """A kind that knows more of a step than its settings say: for rules about steps."""

    def facts(self, settings: Mapping[str, Any], build: DeclaredBuild) -> Mapping[str, Any]:
        """The same names for every step; None where it is not known."""
        ...


@runtime_checkable
class FailureExplainer(Protocol):
    """A kind whose program says in its output why it failed."""

    def complaint(self, folder: Path) -> str | None:
        """Of a program that ended with an error, as a sentence; None where its output has none."""
        ...


@runtime_checkable
class HitRates(Protocol):
    """A kind that says how many of its lookups should find a key: a read that finds nothing is no figure of a read."""

    def hit_rates(self, steps: Sequence[PlannedStep]) -> Sequence[float | None]:
        """Of each step of a sequence that begins without a database: a share; None where it is unknown."""
        ...


@runtime_checkable
class RateTargets(Protocol):
    """A kind whose steps may be asked for a rate."""

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        """What a step was asked for, by metric."""
        ...


@runtime_checkable
class Waiting(Protocol):
    """A kind whose steps wait until the engine has nothing left to do."""

    waited: str  # the metric that says how long that took; a step that it was too long for has none


@runtime_checkable
class Client(Protocol):
    """A kind whose program is a build of its own: the step's setting `client` is the name of that build."""

    client: str  # the engine that such a build is of


@runtime_checkable
class StepFiles(Protocol):
    """A kind whose steps need files: they are in the step's folder when its command starts."""

    def files(self, settings: Mapping[str, Any], own: Callable[[str], str]) -> Mapping[str, str]:
        """Name in the step's folder -> text. Asked when the spec is planned: what a file holds is part of the identity.

        `own` gives the text of a file that the spec brings, by its name, or raises: what it raises is the caller's.
        """
        ...


@runtime_checkable
class InputFiles(Protocol):
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
class OutputReader(Protocol):
    """A kind with settings that decide what is read of a step's output, and nothing of what is run."""

    reading: tuple[str, ...]  # no part of the identity: the kept output is read again where they change


@runtime_checkable
class Placeholders(Protocol):
    """A kind with settings in whose words names in braces are filled in."""

    def placeholders(self, server: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Setting -> the names that there are. `server`: those by which the server of the stage is found."""
        ...


@runtime_checkable
class StandaloneOutput(Protocol):
    """A kind whose output can be read without the step that made it: `stepgrid parse KIND FILE`."""

    def printed(self, path: Path) -> Sequence[PrintedStep]:
        """Every step that the log holds, in its order. ParseError where it is none: what was looked for."""
        ...


class Runner(Driver, RunningDriver, Protocol):
    """Both halves: a kind that this version runs."""
