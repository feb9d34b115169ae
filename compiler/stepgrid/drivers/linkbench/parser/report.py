"""What the client says of a step in report.jsonl: who did what, for how long, and the rates of each second."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    roles: Sequence[Line]  # of each client and operation; the rows of a load are one
    intervals: Sequence[Line]
    graph: Sequence[Line]  # of each client: rows that it loaded, added, deleted
    indexed: Sequence[Line]

    @property
    def operations(self) -> list[str]:
        return list(dict.fromkeys(line["operation"] for line in self.roles))

    def of(self, operation: str) -> list[Line]:
        return [line for line in self.roles if line["operation"] == operation]

    @property
    def count(self) -> float:
        return float(sum(line["count"] for line in self.roles))

    @property
    def span(self) -> float:
        """Seconds from the first client's start to the last one's end."""
        return float(max(line["ended"] for line in self.roles) - min(line["began"] for line in self.roles))

    def rows(self, name: str) -> float:
        return float(sum(line[name] for line in self.graph))


def read(folder: Path) -> Report:
    path = folder / REPORT
    try:
        found = lines(path.read_text(encoding="utf-8").splitlines())
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror}") from None
    end = next((line for line in found if line["report"] == "end"), None)
    if end is None:
        raise ParseError(f"{path}: the client did not report its end")
    roles = [line for line in _of(found, "role") if line["count"]]
    return Report(float(end["seconds"]), roles, *(_of(found, kind) for kind in ("client", "graph", "indexed")))


def lines(texts: Iterable[str]) -> list[Line]:
    """One that was cut off is left out."""
    return list(records(texts, "report"))


def _of(found: Sequence[Line], kind: str) -> list[Line]:
    return [line for line in found if line["report"] == kind]
