"""Results of a folder: its files, each read once, and which of them belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path

from msgspec import Struct

from stepgrid_databases.drivers.db_bench import output
from stepgrid_importers.db_bench import logs, names
from stepgrid_importers.db_bench.logs import Log, report_row
from stepgrid_importers.db_bench.names import SplitName
from stepgrid_importers.db_bench.reports import (
    COLUMNS,
    Block,
    GroupedReports,
    Row,
    parse_reports,
    parse_row,
    repeated,
    uneven,
)
from stepgrid_importers.shared import text_files
from stepgrid_published.importer import Faults


class Report(Struct, frozen=True):
    """report.tsv of one build, and the logs beside it; there may be only these."""

    folder: Path
    before: str
    found: GroupedReports
    logs: Mapping[str, Log]


class Folder(Struct):
    path: Path
    reports: dict[Path, Report] = {}  # by folder
    summaries: list[GroupedReports] = []
    cuts: list[tuple[SplitName, GroupedReports]] = []
    others: list[Log] = []


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
    unnamed = (path for path in files if path.name.endswith(logs.OUTPUTS) and not logs.named(path))
    found.others = [log for path in unnamed if names.cut(path.name) is None and (log := _log(path, faults))]
    for log in found.others:  # an output may be of several benchmarks; the figures of the tree are of all of them
        for number, line in logs.further(log):
            faults.add_unknown(log.path, number, "of an output with several results the first is taken", line)
    return found


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


def _grouped(path: Path, faults: Faults) -> GroupedReports:
    return _parsed(text_files.read(path, faults) or "", path, faults)


def _parsed(content: str, path: Path, faults: Faults) -> GroupedReports:
    """Lines that begin with # are the script's own comments."""
    lines = ("\n" if line.startswith("#") else line for line in content.splitlines(keepends=True))
    return parse_reports("".join(lines), path, faults)


class Column(Struct, frozen=True):
    """A build, or one of several repeats of one."""

    build: str
    rows: Sequence[Row]  # in the order of its report
    load: int = 0
    logs: Mapping[str, Log] = {}  # by test
    folder: Path | None = None  # of its report
    before: str = ""  # what stands above the heads of that report


class Source(Struct, frozen=True):
    """Results that belong together: of some builds, their rows of each step, and the logs that there are of these."""

    path: Path
    workload: str
    run: str
    columns: Sequence[Column]
    reports: Sequence[str] = ()  # how summary.tsv names each; a cut names none
    summarized: bool = False  # whether there is more than this one file to write of it
    set: str = ""  # of a cut with another base
    known: bool = False  # whether its rows are those of another source: only tables are made of it

    @property
    def given(self) -> bool:
        """Whether it is a file that is made of no other one here."""
        return not (self.summarized or self.known)

    @property
    def blocks(self) -> list[Block]:
        """As the scripts group: lines of one number. Without the report of the first build there is none."""
        blocks = zip_longest(*(column.rows for column in self.columns))
        return [list(block) for block in islice(blocks, len(self.columns[0].rows))]

    def steps(self) -> Iterator[tuple[Column, str, Row | None, Log | None]]:
        for column in () if self.known else self._once():
            rows = {row.test: row for row in column.rows}
            for test in dict.fromkeys((*rows, *column.logs)):
                yield column, test, rows.get(test), column.logs.get(test)

    def _once(self) -> list[Column]:
        """A cut may have one build twice."""
        seen: set[tuple[str, ...]] = set()
        found = []
        for column in self.columns:
            rows = tuple(row.text for row in column.rows)
            found += [] if rows and rows in seen else [column]
            seen.add(rows)
        return found


# A summary with its reports, cuts of no summary, outputs on their own


def sources(folder: Folder, faults: Faults) -> list[Source]:
    runs = {summary.path.parent: summary for summary in folder.summaries}
    for parent in folder.reports:
        runs.setdefault(parent.parent, GroupedReports(parent.parent / names.SUMMARY, (), ()))
    found = [_run(summary, folder, faults) for summary in runs.values()]
    rows = {row.text for source in found for column in source.columns for row in column.rows}
    for cut, table in folder.cuts:  # whose rows may all be those of a summary, or of another cut
        known = all(row.text in rows for block in table.blocks for row in block if row)
        found.append(_cut(cut, table, known, faults))
        rows |= {row.text for column in found[-1].columns for row in column.rows}
    return [*found, *(_alone(log, faults) for log in folder.others)]


def _run(summary: GroupedReports, folder: Folder, faults: Faults) -> Source:
    place = summary.path.parent
    reports = [report for parent, report in folder.reports.items() if parent.parent == place]
    if reports:
        return _of_reports(summary, reports, folder, faults)
    if not summary.reports:
        faults.add(summary.path, None, f"the paths of each build's {names.REPORT} were expected above the column heads")
    builds = [names.of_report(path)[1] for path in summary.reports]
    columns = [Column(build, rows) for build, rows in zip(builds, _columns(summary, faults), strict=False)]
    run = names.of_report(summary.reports[0])[0] if summary.reports else ""
    return Source(summary.path, _workload(place, builds, folder), run, columns, summary.reports, summarized=True)


def _of_reports(summary: GroupedReports, reports: Sequence[Report], folder: Folder, faults: Faults) -> Source:
    """In the order of the summary, where there is one; versions in theirs."""
    place, said = summary.path.parent, summary.reports
    order = [names.of_report(path)[1] for path in said]
    ranked = sorted(reports, key=lambda report: _rank(report.folder.name, order))
    columns = _completed([_column(report, faults) for report in ranked], summary, order, faults)
    paths = (
        said if len(order) == len(columns) else [f"{place.name}/{column.build}/{names.REPORT}" for column in columns]
    )
    workload = _workload(place, [column.build for column in columns], folder)
    return Source(place, workload, place.name, columns, paths, summarized=True)


def _completed(columns: list[Column], summary: GroupedReports, order: Sequence[str], faults: Faults) -> list[Column]:
    """A build that only the summary has is of that."""
    known = {column.build: column for column in columns}
    if set(order) <= known.keys():
        return columns
    rows = dict(zip(order, _columns(summary, faults), strict=False))
    found = {build: known.get(build) or Column(build, rows.get(build, ())) for build in order}
    return [*found.values(), *(column for column in columns if column.build not in found)]


def _rank(build: str, order: Sequence[str]) -> tuple[int, list[tuple[int, str]]]:
    place = order.index(build) if build in order else len(order)
    return place, [(int(part), "") if part.isdecimal() else (-1, part) for part in build.split(".")]


def _column(report: Report, faults: Faults) -> Column:
    rows = [row for block in report.found.blocks for row in block if row]
    _once(rows, faults)
    path = report.folder / names.REPORT
    made = rows or _made(report.logs.values(), path, faults)
    return Column(report.folder.name, made, 0, report.logs, report.folder, report.before)


def _made(logs: Iterable[Log], path: Path, faults: Faults) -> list[Row]:
    rows = (parse_row(report_row(log), path, number, faults) for number, log in enumerate(logs, 1))
    return [row for row in rows if row]


def _cut(cut: SplitName, found: GroupedReports, known: bool, faults: Faults) -> Source:
    """Its rows are builds, or repeats of one."""
    rows = [each for each in _columns(found, faults) if each]
    again = repeated(found.blocks)
    builds = [each[0].version for each in rows] if again else _told_apart([each[0].version for each in rows])
    columns = [
        Column(build, each, at if again else 0) for at, (build, each) in enumerate(zip(builds, rows, strict=True))
    ]
    workload = cut.name or names.workload(found.path.parent)
    return Source(found.path, workload, "", columns, set=cut.set, known=known)


def _told_apart(versions: Sequence[str]) -> list[str]:
    """A cut has no other names of builds: two of one version are counted."""
    counts = [versions[: at + 1].count(version) for at, version in enumerate(versions)]
    return [version if count == 1 else f"{version}-{count}" for version, count in zip(versions, counts, strict=True)]


def _columns(found: GroupedReports, faults: Faults) -> list[list[Row]]:
    """By their place in each step: a row does not name its build."""
    count = len(found.reports) or max(map(len, found.blocks), default=0)
    for index in uneven(found):
        block = found.blocks[index]
        first = next((row for row in block if row), None)
        said = f"{len(block)} rows of a step, where there are {count} builds: which row is whose is not to be known"
        faults.add(found.path, first.line if first else None, said, first.text if first else "")
    each = [[row for block in found.blocks if index < len(block) and (row := block[index])] for index in range(count)]
    for rows in each:
        _once(rows, faults)
    return each


def _once(rows: Sequence[Row], faults: Faults) -> None:
    first: dict[str, Row] = {}
    for row in rows:
        if (other := first.setdefault(row.test, row)).text != row.text:
            said = f"{row.test} is here again, after line {other.line}: one may not stand for both"
            faults.add(row.path, row.line, said, row.text)


def _alone(log: Log, faults: Faults) -> Source:
    build = log.version or output.header_facts(log.text, "").get("version") or log.path.stem
    column = Column(build, _made([log], log.path, faults), 0, {log.test: log}, log.path.parent)
    return Source(log.path, log.path.stem, "", [column])


def _workload(place: Path, builds: Sequence[str], folder: Folder) -> str:
    cuts = [cut.name for cut, _ in folder.cuts]
    said = names.workload_of_cuts(cuts, builds) if place == folder.path else None
    return said or names.workload(place)
