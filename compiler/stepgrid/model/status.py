"""What there is to say of a plan: each build and stage with its state, and the run that is active."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from stepgrid.model.plan import Plan

State: TypeAlias = Literal[
    "done", "running", "waiting", "failed", "killed", "blocked", "unsupported", "elsewhere", "left"
]
DONE: State = "done"
RUNNING: State = "running"
WAITING: State = "waiting"  # its job is there, and something else must end first
FAILED: State = "failed"
KILLED: State = "killed"  # an attempt that says nothing of its end, and nobody works at it
BLOCKED: State = "blocked"  # what it starts from has failed
UNSUPPORTED: State = "unsupported"
ELSEWHERE: State = "elsewhere"  # for another machine to measure
LEFT: State = "left"  # not started yet
STATES: tuple[State, ...] = (DONE, RUNNING, WAITING, FAILED, KILLED, BLOCKED, UNSUPPORTED, ELSEWHERE, LEFT)


@dataclass(frozen=True, slots=True)
class Step:
    """The one that runs."""

    name: str
    kind: str
    index: int | None
    of: int | None
    declared: float | None  # seconds
    since: float  # unix time
    folder: Path


@dataclass(frozen=True, slots=True)
class Work:
    """Somebody at work on a build or stage."""

    pids: tuple[int, ...]
    attempt: Path | None = None
    hostname: str = ""
    since: float | None = None  # unix time
    waits: str = ""  # for whom or what
    doing: str = ""  # where no step runs
    replays: str = ""  # the title of the stage that is run again first
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class End:
    """How the newest attempt ended, where it left no result."""

    status: str
    message: str
    step: str
    log: Path
    when: float  # unix time
    tries: int


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    kind: Literal["build", "stage"]
    title: str
    state: State
    because: str = ""  # a sentence, where there is more to say than the state
    seconds: float | None = None  # that it took, or will take; None where that is unknown
    ended: float | None = None  # unix time, of what is done
    replayed: bool = False  # it is done, and runs again: something after it needs its database
    work: Work | None = None
    end: End | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """The run that is active in the checkout, of this spec or another."""

    pid: int | None
    started: float | None
    spec: str
    until: str = ""  # as it was given
    stops: float | None = None
    own: bool = False  # it measures all of the plan that is looked at
    exact: bool = False  # and nothing else


@dataclass(frozen=True, slots=True)
class Status:
    plan: Plan
    now: float
    run: Run | None
    nodes: Sequence[Node]  # builds, then stages in the order in which they run
    left: float | None  # seconds of what is ahead; None = unknown
    about: bool  # some of it by declared durations alone

    def of(self, *states: State, kind: str = "stage") -> list[Node]:
        return [node for node in self.nodes if node.kind == kind and node.state in states]

    @property
    def is_active(self) -> bool:
        """Whether a run of the plan, or anybody, is at work on it."""
        return (self.run is not None and self.run.own) or any(node.work for node in self.nodes)

    @property
    def has_failed(self) -> bool:
        return any(node.state in (FAILED, KILLED) for node in self.nodes)

    @property
    def is_complete(self) -> bool:
        return all(node.state in (DONE, UNSUPPORTED, ELSEWHERE) for node in self.nodes)
