"""What the builds are, as their records say: versions, routes, warnings, and which may be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compiler.plan.model import Axis
from compiler.summarize.layout import BUILD
from compiler.summarize.points import Point
from compiler.summarize.quality import LIBRARY, differences, words
from compiler.summarize.tables import Run


@dataclass(frozen=True, slots=True)
class Build:
    id: str
    name: str
    version: str | None = None
    route: str | None = None
    artifacts: Sequence[Mapping[str, str]] = ()
    warnings: Sequence[str] = ()
    quality: Mapping[str, Any] | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """rocksdb-tools 7.8.3-2: the artifact of the program itself comes first."""
        first = self.artifacts[0] if self.artifacts else None
        artifact = f"{first['name']} {first['version']}" if first else None
        return ", ".join(part for part in (self.route, artifact, self._label) if part) or "not built"

    @property
    def from_library(self) -> bool:
        """Made the fast way: of the engine nothing was compiled."""
        return (self.quality or {}).get("route") == LIBRARY

    @property
    def _label(self) -> str:
        return "the official library; only db_bench is compiled" if self.from_library else ""

    @property
    def told(self) -> str:
        """Its quality: suite bookworm; assertions yes"""
        return "; ".join(f"{name} {value}" for name, value in words(self.quality or {}))


def builds(facts: Mapping[str, Mapping[str, str]], runs: Iterable[Run], axes: Iterable[Axis]) -> dict[str, Build]:
    """By id, from the environment table, in the order of the axis; called as this report calls them."""
    labels = [label for axis in axes if axis.name == BUILD for label in axis.labels]
    called: dict[str, list[str]] = {}
    for build, node in dict.fromkeys((run.build, run.build_id) for run in runs if run.build in labels):
        called.setdefault(node, []).append(build)
    names = {node: sorted(found, key=labels.index) for node, found in called.items()}
    first = {node: labels.index(found[0]) for node, found in names.items()}
    subjects = sorted(facts, key=lambda subject: first.get(subject, len(labels)))
    return {subject: _build(subject, facts[subject], names.get(subject, ())) for subject in subjects}


def _build(subject: str, names: Mapping[str, str], called: Sequence[str]) -> Build:
    """Its record has the name that it was made under, perhaps by another spec."""
    return Build(
        subject,
        ", ".join(called) or names.get("name", subject),
        names.get("version"),
        names.get("route"),
        _json(names, "artifacts", []),
        _json(names, "warnings", []),
        _json(names, "quality", None),
        {name: value for name, value in names.items() if name in ("source", "made", "seconds", "assertions")},
    )


def _json(names: Mapping[str, str], name: str, default: Any) -> Any:
    return json.loads(names[name]) if name in names else default


def caveat(known: Mapping[str, Build], point: Point, base: Point) -> str | None:
    """Why two points get no verdict: their binaries were not made alike."""
    ids = (base.runs[0].build_id, point.runs[0].build_id)
    if ids[0] == ids[1]:
        return None
    one, other = (known[node].quality if node in known else None for node in ids)
    if one is None or other is None:
        return f"{base.build} and {point.build}: what one of them was built with is not recorded"
    if one == other:
        return None
    return f"{base.build} and {point.build} were built differently: {differences(one, other)}"
