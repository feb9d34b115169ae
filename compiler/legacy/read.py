"""A folder of published results, read whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.legacy import kind
from compiler.legacy.fault import Faults
from compiler.legacy.planned import Planned, planned
from compiler.legacy.protocol import Beside


@dataclass(frozen=True, slots=True)
class Found:
    planned: Planned
    legacy: Mapping[str, str]
    beside: Sequence[Beside]


def read(name: str, folder: Path) -> Found:
    """Wrong says everything that keeps it from being read."""
    faults = Faults()
    each = kind(name)
    records = each.read(folder, faults)
    faults.stop()
    measured = each.measured(records)
    if not measured:
        faults.add(folder, None, f"there are no {name} results in it")
        faults.stop()
    whole = folder.resolve()
    title = f"{name} results of {whole.parent.name}/{whole.name}"
    return Found(planned(name, title, str(folder), measured), each.legacy(records), each.beside(records))
