"""What the collectors of a step counted, and what is to be known of it: that they cost, and which of them failed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.plugins.collector import CountingCollector
from stepgrid.plugins.registry import COLLECTORS

FOLDER = "collectors"
COST = "they cost some of its speed"


def figures(step: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for folder, record in _records(step):
        if (kind := record.get("collector")) in COLLECTORS.names():
            found |= COLLECTORS.get(str(kind)).parse(folder)
    return found


def counted(step: Path) -> Iterator[tuple[str, str, float]]:
    """Collector, name, count: of those that count by names of their own."""
    for folder, record in _records(step):
        kind = str(record.get("collector"))
        if kind in COLLECTORS.names() and isinstance(found := COLLECTORS.get(kind), CountingCollector):
            yield from ((kind, name, count) for name, count in found.counted(folder, record).items())


def warnings(step: Path) -> Iterator[str]:
    records = [record for _, record in _records(step)]
    there = [str(record["name"]) for record in records if record.get("exit") is not None]
    if there:
        yield f"measured with {_listed(there)} beside it: {COST}"
    for record in records:
        if record.get("warning"):
            yield f"collector {record['name']}: {record['warning']}"


def _records(step: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for path in sorted(step.glob(f"{FOLDER}/*/collector.json")):
        with suppress(OSError, ValueError):
            record = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(record, dict) and "name" in record:
                yield path.parent, record


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
