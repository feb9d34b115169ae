"""What a report said before the program changed: of the same results, verdicts and claims that came out otherwise."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.host import files
from stepgrid.host.files import write_json
from stepgrid.model import units
from stepgrid.model.units import counted
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import Comparison, Line
from stepgrid.summarize.comparisons.comparison_cell import RATIO, Entry
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Report

MOST_CHANGES = 5  # that are named
Statements = Mapping[str, Mapping[str, str]]  # what it is about -> {results: their digest, said: in words}


def differences(path: Path, report: Report, revision: str) -> list[str]:
    """Sentences where the report of another revision said something else; `path` has then what this one says."""
    before, now = files.read_json(path), statements(report)
    said = _sentences(before.get("statements"), now) if before.get("revision", revision) != revision else []
    with suppress(OSError):  # a store that cannot be written
        write_json(path, {"revision": revision, "statements": now})
    return said


def statements(report: Report) -> Statements:
    every = [each for section in report.sections for table in section.comparisons for each in _compared(table)]
    results = _digest([point for section in report.sections for point in section.points])
    claims = {f"claim `{claim.claim}`": {"results": results, "said": claim.result} for claim in report.claims}
    return {**dict(every), **claims}


def _compared(table: Comparison) -> Iterator[tuple[str, Mapping[str, str]]]:
    for line in table.lines:
        for index, entry in enumerate(line.entries):
            if entry.kind == RATIO and entry.point and line.entries[0].point:
                points = (entry.point, line.entries[0].point)
                yield _name(table, line, index), {"results": _digest(points), "said": _said(entry)}


def _name(table: Comparison, line: Line, index: int) -> str:
    across = table.layout.across
    arm, base = (comparison_axes.words(table.columns[each], across) for each in (index, 0))
    return ", ".join(
        filter(None, (table.step, comparison_axes.words(line.labels, table.layout.down), f"{arm} against {base}"))
    )


def _said(entry: Entry) -> str:
    ratio = "" if entry.ratio is None else f"{units.times(entry.ratio)} "
    return f"{ratio}{entry.verdict or 'no verdict'}"


def _digest(points: Sequence[Point]) -> str:
    attempts = sorted(f"{run.place}/{run.attempt}" for point in points for run in point.runs if run.attempt)
    return hashlib.blake2b("\n".join(attempts).encode(), digest_size=8).hexdigest()


def _sentences(before: Any, now: Statements) -> list[str]:
    same = dict(_of_the_same_results(before, now))
    other = {name: then for name, then in same.items() if then != now[name]["said"]}
    found = [f"{name}: {then} before, {now[name]['said']} now" for name, then in other.items()]
    if not found:
        return []
    several = counted(len(same), "statement")
    head = f"another version of stepgrid made this report before: {len(found)} of {several} differ"
    omitted = len(found) - MOST_CHANGES
    return [head, *found[:MOST_CHANGES], *([f"and {omitted} more"] if omitted > 0 else [])]


def _of_the_same_results(before: Any, now: Statements) -> Iterator[tuple[str, str]]:
    for name, each in before.items() if isinstance(before, dict) else ():
        if isinstance(each, dict) and name in now and each.get("results") == now[name]["results"]:
            yield name, str(each.get("said"))
