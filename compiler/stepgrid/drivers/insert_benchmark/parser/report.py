"""What the client says of a step in report.jsonl: who did what, for how long, and the rates of each second."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepgrid.host.file_reader import records
from stepgrid.model.figures import ParseError

REPORT = "report.jsonl"

Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    seconds: float  # from the start of the threads to the end of the last one
    started: float  # the client, before it connected; seconds of the clock of roles
    roles: Sequence[Line]
    intervals: Sequence[Line]
    probes: Sequence[Line]
    progress: Sequence[Line]

    def of(self, operation: str) -> list[Line]:
        return [line for line in self.roles if line["operation"] == operation]

    def count(self, operation: str) -> float:
        return float(sum(line["count"] for line in self.of(operation)))

    def span(self, operations: Collection[str]) -> float:
        """Seconds from the first client's start with them to the last one's end."""
        found = [line for line in self.roles if line["operation"] in operations]
        return float(max(line["ended"] for line in found) - min(line["began"] for line in found))

    def rate(self, operation: str) -> float:
        return self.count(operation) / self.span([operation])

    def longest(self, operation: str) -> float | None:
        return max((float(line["longest"]) for line in self.of(operation)), default=None)


def read(folder: Path) -> Report:
    path = folder / REPORT
    try:
        found = lines(path.read_text(encoding="utf-8").splitlines())
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror}") from None
    end = next((line for line in found if line["report"] == "end"), None)
    if end is None:
        raise ParseError(f"{path}: the client did not report its end")
    kinds = (_of(found, kind) for kind in ("role", "client", "probe", "progress"))
    return Report(float(end["seconds"]), float(end["started"]), *kinds)


def lines(texts: Iterable[str]) -> list[Line]:
    """One that was cut off is left out."""
    return list(records(texts, "report"))


def _of(found: Sequence[Line], kind: str) -> list[Line]:
    return [line for line in found if line["report"] == kind]
