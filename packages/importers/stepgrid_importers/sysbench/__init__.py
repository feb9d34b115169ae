"""Results of the sysbench microbenchmarks: directories of raw output, and tables of queries per second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid_importers.sysbench import results, runs, summaries, tables
from stepgrid_importers.sysbench.runs import Run
from stepgrid_importers.sysbench.tables import Table
from stepgrid_published.importer import Faults, ImportedStep, Importer, ImportProblem, RecomputedFigure

MADE = (f"{tables.RELATIVE}.", summaries.OVERVIEW)


class Records(Struct, frozen=True):
    runs: Sequence[Run]
    device: str | None  # that the database was on
    guessed: str | None  # a warning
    tables: Sequence[Table]


class Sysbench:
    kind = "sysbench"

    def read(self, folder: Path, faults: Faults) -> Records:
        found = [run for directory in runs.directories(folder) for run in runs.runs(directory, faults)]
        listed = tables.read(folder, faults)
        faults.stop()  # what follows looks at whole files
        named, guessed = summaries.device(found) or (None, None)
        if named is None and any(run.io for run in found):
            faults.add_unknown(folder, None, "no device is in the iostat output of every run: its figures are left out")
        return Records(found, named, guessed, listed)

    def measured(self, records: Records) -> Sequence[ImportedStep]:
        return results.measured(records.runs, records.tables, records.device, records.guessed)

    def legacy(self, records: Records) -> Mapping[str, str]:
        return summaries.summaries(records.runs, records.tables, records.device)

    def differences(self, records: Records) -> Sequence[RecomputedFigure]:
        return list(summaries.differences(records.runs, records.device))

    def unsummarized(self, records: Records) -> Sequence[ImportProblem]:
        return ()

    def aside(self, name: str) -> bool:
        """What housekeeping said is of no test."""
        return name.startswith(MADE) or (name.startswith(runs.OUTPUT) and runs.BENCHMARK not in name)


IMPORTER: Importer[Records] = Sysbench()
