"""Results of the insert benchmark's scripts: what a step's clients printed, and the tables that are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.legacy.insert_benchmark import folder, measured, probe, summaries, wrong
from stepgrid.legacy.insert_benchmark.folder import Records
from stepgrid.legacy.mistake import Faults, Mistake
from stepgrid.legacy.protocol import Beside, Kind, Measured


class InsertBenchmark:
    kind = "insert_benchmark"

    def read(self, place: Path, faults: Faults) -> Records:
        return folder.read(place, faults)

    def measured(self, records: Records) -> Sequence[Measured]:
        return measured.measured(records)

    def legacy(self, records: Records) -> Mapping[str, str]:
        return summaries.summaries(records)

    def beside(self, records: Records) -> Sequence[Beside]:
        return wrong.beside(records)

    def unsummarized(self, records: Records) -> Sequence[Mistake]:
        return summaries.other_columns(records)

    def aside(self, name: str) -> bool:
        return name.startswith((summaries.RELATIVE, summaries.TIMES)) or (
            name.startswith(probe.PREFIX) and name.endswith(probe.SORTED)
        )


KIND: Kind[Records] = InsertBenchmark()
