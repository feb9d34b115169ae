"""Results of the insert benchmark's scripts: what a step's clients printed, and the tables that are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid_importers.insert_benchmark import folder, results, summaries
from stepgrid_importers.insert_benchmark.folder import Records
from stepgrid_importers.insert_benchmark.tables import PROBES, SORTED
from stepgrid_published.importer import Faults, ImportedStep, Importer, ImportProblem, RecomputedFigure


class InsertBenchmark:
    kind = "insert_benchmark"

    def read(self, place: Path, faults: Faults) -> Records:
        return folder.read(place, faults)

    def measured(self, records: Records) -> Sequence[ImportedStep]:
        return results.measured(records)

    def legacy(self, records: Records) -> Mapping[str, str]:
        return summaries.summaries(records)

    def differences(self, records: Records) -> Sequence[RecomputedFigure]:
        return results.differences(records)

    def unsummarized(self, records: Records) -> Sequence[ImportProblem]:
        return summaries.other_columns(records)

    def aside(self, name: str) -> bool:
        is_sorted = name.startswith(PROBES) and name.endswith(SORTED)
        return is_sorted or name.startswith((summaries.RELATIVE, summaries.TIMES))


IMPORTER: Importer[Records] = InsertBenchmark()
