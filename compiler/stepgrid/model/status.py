"""Status of each build and stage of a plan, in nine words, and what the next run does with it, in six."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from stepgrid.model.plan import BUILD_PREFIX, Plan
from stepgrid.model.records import Files, StepRecord
from stepgrid.model.units import duration


class StatusWord(StrEnum):
    """A word with its meaning, which help and documentation repeat."""

    meaning: str

    def __new__(cls, word: str, meaning: str) -> StatusWord:
        member = str.__new__(cls, word)
        member._value_, member.meaning = word, meaning
        return member


class Status(StatusWord):
    DONE = "done", "it has a result that counts"
    UNSUPPORTED = "unsupported", "the binary lacks an option that it needs"
    RUNNING = "running", "its job measures it, or makes it"
    WAITING = "waiting", "its job waits for the host"
    FAILED = "failed", "its newest attempt failed"
    INTERRUPTED = "interrupted", "its newest attempt was stopped or killed, or its result is broken"
    BLOCKED = "blocked", "a build of it, or the stage that it starts from, failed"
    MISSING = "missing", "nothing was tried yet, or the active run tries it again"
    ELSEWHERE = "elsewhere", "another machine of the plan measures it"


class Action(StatusWord):
    MEASURE = "measure", "it runs: it has no result"
    RETRY = "retry", "it runs again: its newest attempt failed or was interrupted"
    REDO = "redo", "it is measured again, because of `redo` or `compare_within`; the old result stays"
    REPLAY = "replay", "it runs again without being measured: a later stage needs its database, which has no image"
    KEEP = "keep", "its result stays"
    LEAVE = "leave", "it does not run: unsupported, or for another machine"


MEASURES = (Action.MEASURE, Action.RETRY, Action.REDO)  # and leaves a result
ENDED = (Status.DONE, Status.UNSUPPORTED, Status.ELSEWHERE)


class Result(Struct, frozen=True):
    """A complete result. Who only counts results leaves its steps unread."""

    folder: Path
    status: Status = Status.DONE
    reason: str = ""
    seconds: float | None = None
    ended: float | None = None  # unix time
    waited: float = 0.0  # seconds for the host, before it began
    steps: tuple[StepRecord, ...] = ()
    folders: tuple[Path, ...] = ()  # of its steps
    files: Files = {}  # checksums


class BrokenRecord(Struct, frozen=True):
    """A result or build that counts no more: it does not hold what it must."""

    node: str
    folder: Path
    why: str


class ActiveStep(Struct, frozen=True):
    """The step that runs."""

    name: str
    kind: str
    index: int | None
    of: int | None
    declared: float | None  # seconds
    since: float  # unix time
    folder: Path


class ActiveWork(Struct, frozen=True):
    """Somebody at work on a build or stage."""

    pids: tuple[int, ...]
    attempt: Path | None = None
    hostname: str = ""
    since: float | None = None  # unix time
    waits: str = ""  # for whom or what
    wait_s: float | None = None  # that those will need still, as they said
    doing: str = ""  # where no step runs
    replays: str = ""  # the title of the stage that is run again first
    step: ActiveStep | None = None
    index: int | None = None  # of the newest step, also of one that has ended
    ended: tuple[tuple[int, float], ...] = ()  # steps that have ended: index, seconds


class AttemptEnd(Struct, frozen=True):
    """The end of the newest attempt, where it left no result."""

    status: Status  # failed, interrupted
    message: str
    step: str
    log: Path
    when: float  # unix time
    tries: int

    @property
    def sentence(self) -> str:
        return f"{self.step}: {self.message}" if self.step else self.message


class NodeStatus(Struct, frozen=True):
    """A stage that is measured beside its result is `done`, and somebody may be at work on it."""

    id: str
    title: str
    status: Status
    reason: str = ""  # a sentence, where there is more to say than the word
    action: Action = Action.KEEP
    why: str = ""  # of the action
    times: int = 0  # how often it runs
    cause: str | None = None  # the node that it is blocked by
    result: Result | None = None
    log: Path | None = None  # of what failed
    seconds: float | None = None  # that it took, or will take; None where that is unknown
    work: ActiveWork | None = None
    end: AttemptEnd | None = None
    waited: float = 0.0  # of a build that the active run has made: seconds for the host, before it began

    @property
    def is_build(self) -> bool:
        return self.id.startswith(BUILD_PREFIX)

    @property
    def kind(self) -> str:
        return "build" if self.is_build else "stage"

    @property
    def has_begun(self) -> bool:
        return self.work is not None and not self.work.waits

    @property
    def because(self) -> str:
        return "; ".join(part for part in (self.reason, self.why) if part)

    @property
    def sentence(self) -> str:
        """Say why it has no figures."""
        return self.reason or ("not run yet" if self.status is Status.MISSING else self.status.meaning)

    @property
    def time_taken(self) -> str:
        """ " in 31s, after waiting 58s", for a sentence about one that is done; empty where that is unknown."""
        seconds = self.result.seconds if self.result else self.seconds
        if self.status is not Status.DONE or seconds is None:
            return ""
        waited = self.result.waited if self.result else 0.0
        return f" in {duration(seconds)}{f', after waiting {duration(waited)}' if waited >= 1 else ''}"

    @property
    def attempt(self) -> str | None:
        """The name of its result's attempt."""
        return self.result.folder.name if self.result else None


ROUGH = 1.25  # ends of a range that is shown lie farther apart


class Eta(Struct, frozen=True):
    """Estimated time; a range as long as this host has measured nothing of the kind."""

    seconds: float | None  # None: of some it is unknown
    range: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        return self.range or (self.seconds or 0.0, self.seconds or 0.0)

    @property
    def is_rough(self) -> bool:
        least, most = self.ends
        return self.seconds is not None and most > ROUGH * least

    def share(self, share: float) -> Eta:
        least, most = self.ends
        return Eta(None if self.seconds is None else self.seconds * share, (least * share, most * share))


def add_times(times: Iterable[Eta]) -> Eta:
    """Add times up; unknown where one is."""
    parts = list(times)
    least, most = (math.fsum(part.ends[end] for part in parts) for end in (0, 1))
    seconds = [part.seconds for part in parts if part.seconds is not None]
    return Eta(math.fsum(seconds) if len(seconds) == len(parts) else None, (least, most))


class RunAhead(Struct, frozen=True):
    """A run that another one in the same checkout waits for."""

    pid: int  # 0: of a process that cannot be seen from here
    spec: str  # empty: it is no run, or has just begun
    started: float  # unix time
    eta: Eta


class ActiveRun(Struct, frozen=True):
    """The run that is active in the checkout, of any spec; or that of the plan, while it waits for its turn."""

    pid: int | None
    started: float | None
    spec: str
    until: str = ""  # as it was given
    stops: float | None = None
    covers_plan: bool = False  # it measures all of the plan that is looked at
    is_exact: bool = False  # and nothing else
    waited: float = 0.0  # seconds for its turn
    ahead: tuple[RunAhead, ...] = ()  # for whom it waits


class PlanStatus(Struct, frozen=True):
    plan: Plan
    now: float
    run: ActiveRun | None
    nodes: Mapping[str, NodeStatus]  # builds, then stages in the order in which they run
    eta: Eta
    broken: Sequence[BrokenRecord] = ()
    foreign: Mapping[str, str] = {}  # machine -> where this host differs from it
    waited: float = 0.0  # seconds that the active run has waited for its turn, and its stages for the host

    def nodes_with(self, *statuses: Status, kind: str = "stage") -> list[NodeStatus]:
        return [node for node in self.nodes.values() if node.kind == kind and node.status in statuses]

    @property
    def stages(self) -> list[NodeStatus]:
        return [node for node in self.nodes.values() if not node.is_build]

    @property
    def at_work(self) -> list[NodeStatus]:
        return [node for node in self.nodes.values() if node.work]

    @property
    def wait_began(self) -> float | None:
        """The time since which the run waits for its turn, or all that is at work for the host; None while it works."""
        if self.run and self.run.ahead:
            return self.run.started
        work = [node.work for node in self.at_work if node.work]
        if not all(entry.waits for entry in work):
            return None
        return min((entry.since or self.now for entry in work), default=None)

    @property
    def is_active(self) -> bool:
        """A run of the plan, or anybody, is at work on it."""
        return (self.run is not None and self.run.covers_plan) or bool(self.at_work)

    @property
    def has_failed(self) -> bool:
        return any(node.status is Status.FAILED for node in self.nodes.values())

    @property
    def is_complete(self) -> bool:
        return all(node.status in ENDED and node.action is not Action.REDO for node in self.nodes.values())
