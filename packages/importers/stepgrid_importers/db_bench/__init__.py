"""Results of RocksDB's benchmark_compare.sh and benchmark.sh, and of what is made of their reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.model.figures import Figures, ParseError
from stepgrid_importers.db_bench import folder, names, step_figures, summaries
from stepgrid_importers.db_bench.folder import Column, Source
from stepgrid_importers.db_bench.logs import Log
from stepgrid_importers.db_bench.reports import Row
from stepgrid_published.importer import Faults, ImportedStep, Importer, ImportProblem, RecomputedFigure

NO_RESULT = "the published row says that it failed"


class Records(NamedTuple):
    folder: Path
    sources: Sequence[Source]


class DbBench:
    kind = "db_bench"

    def read(self, place: Path, faults: Faults) -> Records:
        """A faulty file is refused alone: the others are read again without it."""
        found = _read(place, faults)
        while refused := faults.of_files():
            faults.begin_again(refused)
            found = _read(place, faults)
        return found

    def measured(self, records: Records) -> Sequence[ImportedStep]:
        return [
            _measured(column, test, row, log, _labels(source, records.sources))
            for source in records.sources
            for column, test, row, log in source.steps()
        ]

    def legacy(self, records: Records) -> Mapping[str, str]:
        """A cut that has more than the summary beside it is not made again without that."""
        each = (summaries.summaries(source, records.folder) for source in records.sources)
        given = {str(source.path.relative_to(records.folder)) for source in records.sources if source.given}
        return {name: text for files in each for name, text in files.items() if name not in given}

    def differences(self, records: Records) -> Sequence[RecomputedFigure]:
        return [each for source in records.sources for each in _beside(source)]

    def unsummarized(self, records: Records) -> Sequence[ImportProblem]:
        return ()

    def aside(self, name: str) -> bool:
        return names.aside(name)


def _read(place: Path, faults: Faults) -> Records:
    found = folder.sources(folder.read(place, faults), faults)
    for log in (log for source in found for column in source.columns for log in column.logs.values()):
        if log.series:
            faults.read.add(log.series)
            if said := step_figures.series_fault(log.series):
                faults.add(log.series, *said)
    return Records(place, found)


def _beside(source: Source) -> Iterator[RecomputedFigure]:
    for column, _, row, log in source.steps():
        if row:
            yield from summaries.row_differences(row.path.name, column.build, row, _figures(row, log)[0])
    yield from () if source.known else summaries.step_differences(source)


def _measured(column: Column, test: str, row: Row | None, log: Log | None, labels: Mapping[str, str]) -> ImportedStep:
    figures, failure = _figures(row, log)
    return ImportedStep(
        build=column.build,
        step=test,
        figures=figures,
        labels=labels,
        load=column.load,
        version=figures.facts.get("version", ""),
        files=tuple(path for path in (log.path, log.series) if path) if log else (),
        source=f"{row.path.name}:{row.line}" if row and not log else "",
        failure=failure,
        seconds=figures.metrics.get("seconds"),
    )


def _figures(row: Row | None, log: Log | None) -> tuple[Figures, str | None]:
    try:
        if log:
            return step_figures.of_log(log), None
        if row and not row.failed:
            return step_figures.of_row(row), None
    except ParseError as error:
        return Figures({}), str(error)
    return Figures({}), NO_RESULT


def _labels(source: Source, found: Sequence[Source]) -> Mapping[str, str]:
    """Only what tells one of several from the others."""
    taken = {each.workload for each in found if not each.known}
    several = {"workload": source.workload} if len(taken) > 1 else {}
    runs = {each.run for each in found if each.run}
    return several | ({"run": source.run} if len(runs) > 1 and source.run else {})


IMPORTER: Importer[Records] = DbBench()
