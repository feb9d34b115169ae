"""Results of the insert benchmark's scripts: what a step's clients printed, and the tables that are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.plugins.importer import Faults, ImportedStep, Importer, ImportProblem, PublishedFigure
from stepgrid_importers.insert_benchmark import differences, folder, probe, results, summaries
from stepgrid_importers.insert_benchmark.folder import Records


class InsertBenchmark:
    kind = "insert_benchmark"

    def read(self, place: Path, faults: Faults) -> Records:
        return folder.read(place, faults)

    def measured(self, records: Records) -> Sequence[ImportedStep]:
        return results.measured(records)

    def legacy(self, records: Records) -> Mapping[str, str]:
        return summaries.summaries(records)

    def differences(self, records: Records) -> Sequence[PublishedFigure]:
        return differences.beside(records)

    def unsummarized(self, records: Records) -> Sequence[ImportProblem]:
        return summaries.other_columns(records)

    def aside(self, name: str) -> bool:
        return name.startswith((summaries.RELATIVE, summaries.TIMES)) or (
            name.startswith(probe.PREFIX) and name.endswith(probe.SORTED)
        )


IMPORTER: Importer[Records] = InsertBenchmark()
