"""The files of a folder that hold db_bench results, each read once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stepgrid.plugins.importer import Faults
from stepgrid_importers.db_bench import logs, names, summary_file
from stepgrid_importers.db_bench.columns import COLUMNS
from stepgrid_importers.db_bench.logs import Log
from stepgrid_importers.db_bench.names import SplitName
from stepgrid_importers.db_bench.summary_file import GroupedReports
from stepgrid_importers.shared import text_files


@dataclass(frozen=True, slots=True)
class Report:
    """report.tsv of one build, and the logs beside it; there may be only these."""

    folder: Path
    before: str
    found: GroupedReports
    logs: Mapping[str, Log]


@dataclass(slots=True)
class Folder:
    path: Path
    reports: dict[Path, Report] = field(default_factory=dict)  # by folder
    summaries: list[GroupedReports] = field(default_factory=list)
    cuts: list[tuple[SplitName, GroupedReports]] = field(default_factory=list)
    others: list[Log] = field(default_factory=list)


def read(folder: Path, faults: Faults) -> Folder:
    found = Folder(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not faults.refuses(path))
    for path in files:
        if path.name == names.SUMMARY:
            found.summaries.append(_grouped(path, faults))
        elif name := names.cut(path.name):
            found.cuts.append((name, _grouped(path, faults)))
    for parent in dict.fromkeys(path.parent for path in files if path.name == names.REPORT or logs.named(path)):
        found.reports[parent] = _report(parent, [path for path in files if path.parent == parent], faults)
    found.others = [log for path in files if _other(path) and (log := _log(path, faults))]
    for log in found.others:
        _further(log, faults)
    return found


def _other(path: Path) -> bool:
    return path.name.endswith(logs.OUTPUTS) and not logs.named(path) and names.cut(path.name) is None


def _report(folder: Path, files: Sequence[Path], faults: Faults) -> Report:
    path = folder / names.REPORT
    content = (text_files.read(path, faults) or "") if path in files else ""
    begin = content.find(f"{COLUMNS[0]}\t{COLUMNS[1]}")
    found = _parsed(content, path, faults) if path in files else GroupedReports(path, (), ())
    return Report(folder, content[: max(begin, 0)], found, _logs(files, faults))


def _logs(paths: Iterable[Path], faults: Faults) -> dict[str, Log]:
    """In the order in which they began."""
    found = [log for path in sorted(paths) if logs.named(path) and (log := _log(path, faults))]
    tests: dict[str, Log] = {}
    for log in sorted(found, key=lambda log: (log.began, log.path.name)):
        first = tests.setdefault(log.test, log)
        if first is not log:
            said = f"{log.test} has another log, {first.path.name}: one may not stand for both"
            faults.add(log.path, None, said)
    return tests


def _log(path: Path, faults: Faults) -> Log | None:
    content = text_files.read(path, faults)
    if content is None:
        return None
    if not logs.is_log(path, content):
        faults.read.discard(path)
        return None
    return logs.parse(path, content, faults)


def _further(log: Log, faults: Faults) -> None:
    """An output may be of several benchmarks; the figures of the tree are of all of them together."""
    for number, line in logs.further(log):
        faults.add_unknown(log.path, number, "of an output with several results the first is taken", line)


def _grouped(path: Path, faults: Faults) -> GroupedReports:
    return _parsed(text_files.read(path, faults) or "", path, faults)


def _parsed(content: str, path: Path, faults: Faults) -> GroupedReports:
    """Lines that begin with # are the script's own comments."""
    return summary_file.parse("".join(_uncommented(line) for line in content.splitlines(keepends=True)), path, faults)


def _uncommented(line: str) -> str:
    return "\n" if line.startswith("#") else line
