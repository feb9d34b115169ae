"""A command: the arguments, the environment and the files of a program that a step runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    duration: float | None = None  # declared seconds; the deadline is this plus a grace; None = no declared end
    files: Mapping[str, str] = field(default_factory=dict)  # name in the step's folder -> text, there when it starts
    secrets: tuple[str, ...] = ()  # of `files`: gone when it has ended, also where it did not come to read them
    keep: tuple[str, ...] = ()  # files of the data directory that are copied to the step's folder when it has ended
