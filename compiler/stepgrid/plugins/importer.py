"""What a kind of published results is: a folder read to typed records; results and summary files made of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from stepgrid.plugins.driver import Figures
from stepgrid.plugins.folder_fault import Faults, Mistake

Records = TypeVar("Records")


@dataclass(frozen=True, slots=True)
class Measured:
    """One step of one run: what the store gets of it."""

    build: str  # the column of the published tables: build.config
    step: str
    figures: Figures = field(default_factory=lambda: Figures({}))
    labels: Mapping[str, str] = field(default_factory=dict)  # of further axes: each a database of its own
    variables: Mapping[str, str] = field(default_factory=dict)  # of axes that were tried on one database
    load: int = 0  # of several runs of the same, which one
    version: str = ""  # of the engine, where the output says so
    files: tuple[Path, ...] = ()  # raw output: copied into the result
    source: str = ""  # FILE:LINE that the figures are of, where many steps are in one file
    failure: str | None = None  # why it has no figures
    seconds: float | None = None  # that it took
    started: str | None = None  # UTC, ISO 8601
    argv: tuple[str, ...] = ()
    host: Mapping[str, str | int] = field(default_factory=dict)  # kernel, cores …


@dataclass(frozen=True, slots=True)
class Beside:
    """A published figure and ours, where the published rule is another one."""

    file: str  # of the summary
    row: str
    figure: str
    legacy: str
    clean: str
    why: str  # a heading of docs/legacy.md


class Kind(Protocol[Records]):
    kind: str  # the driver of the steps

    def read(self, folder: Path, faults: Faults) -> Records:
        """All of the folder; every fault goes to `faults`, and nothing is half read for it."""
        ...

    def measured(self, records: Records) -> Sequence[Measured]:
        """In the order that tables have them: builds in theirs, the first is the base; steps in theirs."""
        ...

    def legacy(self, records: Records) -> Mapping[str, str]:
        """The published summary files, by name. A byte that is no UTF-8 is a surrogate."""
        ...

    def beside(self, records: Records) -> Sequence[Beside]: ...

    def unsummarized(self, records: Records) -> Sequence[Mistake]:
        """Results that the published summaries have no place for."""
        ...

    def aside(self, name: str) -> bool:
        """Whether a file of that name, which was not read, is made of those that were, or never holds a result."""
        ...
