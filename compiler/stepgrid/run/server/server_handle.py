"""A server as a step sees it: one that was started for the stage, or one that ran before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from stepgrid.host.failure import StageError
from stepgrid.plugins.server import Access


class ReachedServer(Protocol):
    access: Access
    folder: Path  # in the attempt: what is kept of it
    warnings: list[str]  # what must travel with every figure

    @property
    def pid(self) -> int | None:
        """Of its process, which is sampled; None: it is none of this machine's, or cannot be told."""
        ...

    @property
    def ours(self) -> int | None:
        """The same of one that we started: a step without it is pointless, and ends with it."""
        ...

    @property
    def halted(self) -> bool: ...

    def gone(self, seconds: float = 0.0) -> bool: ...

    def failure(self, when: str, step: str | None = None) -> StageError: ...

    def crash(self, step: str) -> StageError | None: ...

    def noted(self, record: Mapping[str, Any]) -> Mapping[str, Any]: ...
