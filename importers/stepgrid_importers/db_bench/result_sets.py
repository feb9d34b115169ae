"""What a folder's files are the results of: a summary with its reports, cuts of no summary, outputs on their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from stepgrid.drivers.db_bench import output
from stepgrid.plugins.importer import Faults
from stepgrid_importers.db_bench import names, report_row, summary_file
from stepgrid_importers.db_bench.columns import Row
from stepgrid_importers.db_bench.deviation import repeated
from stepgrid_importers.db_bench.folder import Folder, Report
from stepgrid_importers.db_bench.logs import Log
from stepgrid_importers.db_bench.names import SplitName
from stepgrid_importers.db_bench.result_set import Column, Source
from stepgrid_importers.db_bench.summary_file import GroupedReports


def sources(folder: Folder, faults: Faults) -> list[Source]:
    runs = {summary.path.parent: summary for summary in folder.summaries}
    for parent in folder.reports:
        runs.setdefault(parent.parent, GroupedReports(parent.parent / names.SUMMARY, (), ()))
    found = [_run(summary, folder, faults) for summary in runs.values()]
    rows = {row.text for source in found for column in source.columns for row in column.rows}
    for cut, table in folder.cuts:
        found.append(_cut(cut, table, covered(table, rows), faults))
        rows |= {row.text for column in found[-1].columns for row in column.rows}
    return [*found, *(_alone(log, faults) for log in folder.others)]


def covered(cut: GroupedReports, rows: set[str]) -> bool:
    """Whether its rows are those of a summary, or of another cut, that is here as well."""
    return all(row.text in rows for block in cut.blocks for row in block if row)


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
    made = rows or list(_made(report.logs.values(), path, faults))
    return Column(report.folder.name, made, 0, report.logs, report.folder, report.before)


def _made(logs: Iterable[Log], path: Path, faults: Faults) -> Iterator[Row]:
    for number, log in enumerate(logs, 1):
        if row := summary_file.parse_row(report_row.row(log), path, number, faults):
            yield row


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
    for index in summary_file.uneven(found):
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
    column = Column(build, list(_made([log], log.path, faults)), 0, {log.test: log}, log.path.parent)
    return Source(log.path, log.path.stem, "", [column])


def _workload(place: Path, builds: Sequence[str], folder: Folder) -> str:
    cuts = [cut.name for cut, _ in folder.cuts]
    said = names.workload_of_cuts(cuts, builds) if place == folder.path else None
    return said or names.workload(place)
