"""Why a stage has no result: one sentence, the step, and the end of the log that says more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stepgrid.errors import StepgridError
from stepgrid.host.disk_errors import OUTSIDE
from stepgrid.host.log_tail import DISK_FULL

FOUND_NOTHING = "it found none of the keys that it looked up; {:.3g} % were expected"


@dataclass(slots=True)
class StageError(StepgridError):
    message: str
    step: str | None = None
    log: Path | None = None
    tail: str = ""
    starting: bool = False  # a server that did not come up on the database that it was given
    exited_well: bool = False  # the program ended with exit status 0: its figures are what failed

    def block(self, title: str) -> str:
        """What a person sees on stderr."""
        lines = [f"failed: {title}", f"  {self.step}: {self.message}" if self.step else f"  {self.message}"]
        lines += [f"  | {line}" for line in self.tail.splitlines()]
        return "\n".join(lines + ([f"  log: {self.place}"] if self.log else []))

    @property
    def place(self) -> Path | None:
        """The log, as one writes it in this folder: a server needs the whole path, a person does not."""
        here = Path.cwd()
        return self.log.relative_to(here) if self.log and self.log.is_relative_to(here) else self.log


class UnsupportedError(StepgridError):
    """The build cannot do what the stage asks for: a result, not a failure."""


def is_from_outside(failure: StageError) -> bool:
    """A disk in trouble, or somebody's signal: neither says anything of the image that a step started from."""
    return DISK_FULL in failure.tail or any(words in failure.message for words in OUTSIDE)


def is_of_missing_keys(failure: StageError) -> bool:
    """The database lacks what was loaded, whichever step notices."""
    return FOUND_NOTHING.partition(";")[0] in failure.message
