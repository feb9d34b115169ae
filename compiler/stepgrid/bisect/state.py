"""What a search has decided so far, kept in one small file; every figure is read from the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from stepgrid.bisect.request import Candidate, Request
from stepgrid.host import files
from stepgrid.host.files import make_folder, write_json
from stepgrid.store.store import Store


class Decision(NamedTuple):
    """So many loads of each of these candidates, by their places."""

    candidates: tuple[int, ...]
    loads: int
    why: str


@dataclass(slots=True)
class State:
    folder: Path
    request: Request
    candidates: Sequence[Candidate]
    decisions: list[Decision] = field(default_factory=list)

    def decide(self, decision: Decision) -> None:
        """Before it is measured: who is killed then goes on with it."""
        self.decisions.append(decision)
        self.save()

    def save(self) -> None:
        make_folder(self.folder)
        said = {
            "request": self.request.to_json(),
            "candidates": [list(each) for each in self.candidates],
            "decisions": [[list(each.candidates), each.loads, each.why] for each in self.decisions],
        }
        write_json(self.folder / "search.json", said)


def kept(store: Store, request: Request) -> State | None:
    """None where there is none, or an older version's."""
    folder = store.bisect(request.key)
    said = files.read_json(folder / "search.json")
    try:
        candidates = [Candidate(*map(str, each)) for each in said["candidates"]]
        decisions = [Decision(tuple(map(int, each)), int(loads), str(why)) for each, loads, why in said["decisions"]]
    except (KeyError, TypeError, ValueError):
        return None
    return State(folder, request, candidates, decisions)
