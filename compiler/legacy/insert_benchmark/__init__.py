"""Results of the insert benchmark's scripts: what a step's clients printed, and the tables that are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from compiler.legacy.insert_benchmark import folder, measured, summaries, wrong
from compiler.legacy.insert_benchmark.folder import Records
from compiler.legacy.mistake import Faults
from compiler.legacy.protocol import Beside, Kind, Measured


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


KIND: Kind[Records] = InsertBenchmark()
