"""Protocol of an importer of published results, and the problems of a folder that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec import Struct, field

from stepgrid.model.figures import Figures
from stepgrid.model.units import counted
from stepgrid.plugins.registry import Registry

Records = TypeVar("Records")


class ImportedStep(Struct, frozen=True):
    """A step of one run, as the store gets it."""

    build: str  # the column of the published tables: build.config
    step: str
    figures: Figures = field(default_factory=lambda: Figures({}))
    labels: Mapping[str, str] = {}  # of further axes: each a database of its own
    variables: Mapping[str, str] = {}  # of axes that were tried on one database
    load: int = 0  # of several runs of the same, which one
    version: str = ""  # of the engine, where the output says so
    files: tuple[Path, ...] = ()  # raw output: copied into the result
    source: str = ""  # FILE:LINE that the figures are of, where many steps are in one file
    failure: str | None = None  # why it has no figures
    seconds: float | None = None  # that it took
    started: str | None = None  # UTC, ISO 8601
    argv: tuple[str, ...] = ()
    host: Mapping[str, str | int] = {}  # kernel, cores …


class RecomputedFigure(Struct, frozen=True):
    """A published figure and ours, if the published rule is another one."""

    file: str  # of the summary
    row: str
    figure: str
    legacy: str
    clean: str
    why: str  # a heading of docs/guides/legacy.md


class Importer(Protocol[Records]):
    kind: str  # the driver of the steps

    def read(self, folder: Path, faults: Faults) -> Records:
        """Read the whole folder to typed records; every fault goes to `faults`, and nothing is half read for it."""
        ...

    def measured(self, records: Records) -> Sequence[ImportedStep]:
        """List steps in the order of tables: by build, of which the first is the base, and by step."""
        ...

    def legacy(self, records: Records) -> Mapping[str, str]:
        """The published summary files, by name. A byte that is no UTF-8 is a surrogate."""
        ...

    def differences(self, records: Records) -> Sequence[RecomputedFigure]: ...

    def unsummarized(self, records: Records) -> Sequence[ImportProblem]:
        """List results that the published summaries have no place for."""
        ...

    def aside(self, name: str) -> bool:
        """Tell whether a file of that name, which was not read, is made of others, or never holds a result."""
        ...


# What is wrong with a folder of published results, and what is not understood: where, what was expected there.

LONGEST_LINE = 100  # characters that are shown of a line


class ImportProblem(NamedTuple):
    path: Path
    line: int | None  # from 1; None: of the whole file or folder
    message: str
    text: str = ""  # the line as it stands

    @property
    def sentence(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"

    def __str__(self) -> str:
        if not self.text.strip():
            return self.sentence
        plain = "".join(character if character.isprintable() else " " for character in self.text.strip("\n"))
        return f"{self.sentence}\n  | {plain if len(plain) <= LONGEST_LINE else f'{plain[: LONGEST_LINE - 1]}…'}"


def sort_problems(problems: Iterable[ImportProblem]) -> tuple[ImportProblem, ...]:
    return tuple(sorted(problems, key=lambda problem: (str(problem.path), problem.line or 0)))


class FolderError(Exception):
    """A folder that cannot be imported, with everything that is wrong with it. `unknown`: it may be left out."""

    def __init__(self, faults: Iterable[ImportProblem], unknown: bool = False) -> None:
        self.faults = sort_problems(faults)
        self.unknown = unknown
        super().__init__("\n".join(map(str, self.faults)))


class Faults:
    """Collection of what is wrong, what is not understood, and which files were read."""

    def __init__(self) -> None:
        self.refused: list[ImportProblem] = []  # of files that are not read, so that the others can be
        self._problems: dict[ImportProblem, None] = {}
        self._unknown: dict[tuple[Path, str], list[ImportProblem]] = {}
        self.left_out: list[ImportProblem] = []  # told, and no reason to refuse the folder
        self.read: set[Path] = set()
        self.cut: list[Path] = []  # whose last line is half a line, which is not read

    def add(self, path: Path, line: int | None, message: str, text: str = "") -> None:
        self._problems[ImportProblem(path, line, message, text)] = None

    def add_unknown(self, path: Path, line: int | None, message: str, text: str = "") -> None:
        """Add what is not understood. Lines of a file with one problem are reported once, and counted."""
        self._unknown.setdefault((path, message), []).append(ImportProblem(path, line, message, text))

    def add_left_out(self, path: Path, line: int | None, message: str, text: str = "") -> None:
        self.left_out.append(ImportProblem(path, line, message, text))

    def refuses(self, path: Path) -> bool:
        return any(problem.path == path for problem in self.refused)

    def of_files(self) -> list[ImportProblem]:
        """List problems of files that are not refused yet."""
        return [problem for problem in self._problems if problem.path.is_file() and not self.refuses(problem.path)]

    def begin_again(self, refused: Iterable[ImportProblem]) -> None:
        """Forget everything but the refused files, these included, which count as read."""
        self.refused += refused
        for collection in (self._problems, self._unknown, self.left_out, self.cut):
            collection.clear()
        self.read = {problem.path for problem in self.refused}

    def __iter__(self) -> Iterator[ImportProblem]:
        return iter(self._problems)

    @property
    def unknown(self) -> list[ImportProblem]:
        problems = []
        for first, *copies in self._unknown.values():
            count = f"; {counted(len(copies) + 1, 'such line')}, this is the first" if copies else ""
            problems.append(first._replace(message=f"{first.message}{count}"))
        return problems

    def stop(self) -> None:
        if self._problems:
            raise FolderError((*self._problems, *self.refused, *self.unknown))


IMPORTERS: Registry[Importer[Any]] = Registry(
    "importers",
    "kind of published results",
    "stepgrid_published.importer:Importer",
    "`pip install 'stepgrid[importers]'` (in a checkout `make setup`) adds some",
)
