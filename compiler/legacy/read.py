"""A folder of published results, read whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.legacy import KINDS, kind
from compiler.legacy.mistake import Faults, Wrong
from compiler.legacy.planned import Planned, planned, several
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
        faults.add(folder, None, f"there are no {name} results in it{_others(name, folder)}")
    for twice in several(measured):
        faults.add(folder, None, f"two results of {twice} in it: one may not stand for both")
    faults.stop()
    whole = folder.resolve()
    title = f"{name} results of {whole.parent.name}/{whole.name}"
    return Found(planned(name, title, str(folder), measured), each.legacy(records), each.beside(records))


def _others(but: str, folder: Path) -> str:
    """The kinds whose results are there."""
    there = [name for name in KINDS if name != but and _holds(name, folder)]
    return f"; there are those of {' and '.join(there)}" if there else ""


def _holds(name: str, folder: Path) -> bool:
    faults = Faults()
    try:
        return bool(kind(name).measured(kind(name).read(folder, faults))) and not list(faults)
    except Wrong:
        return False
