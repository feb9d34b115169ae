"""What the builds are, as their records say: versions, routes, warnings, and which may be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from stepgrid.model.plan import BUILD, Axis
from stepgrid.summarize.comparisons.build_quality import LIBRARY, RUNNING, differences, words
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run

NO_VERDICT, AS_SHIPPED = "no verdict", "as shipped"  # of two builds that were not made alike
_UNKNOWN = "which already ran: its configuration, compiler, flags and patches are not known, nor who else asked it"


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
    client: bool = False  # of steps; no cell's engine
    patches: Sequence[str] = ()

    @property
    def title(self) -> str:
        return f"{self.name} (client)" if self.client else self.name

    @property
    def origin(self) -> str:
        """rocksdb-tools 7.8.3-2: that of the program itself; of packages that a spec names the server may come last."""
        servers = (each for each in self.artifacts if each["name"].endswith("-server-core"))
        first = next(servers, self.artifacts[0] if self.artifacts else None)
        artifact = f"{first['name']} {first['version']}" if first else None
        return ", ".join(part for part in (self.route, artifact, self._label, self._patched) if part) or "not built"

    @property
    def from_library(self) -> bool:
        """Made the fast way: of the engine nothing was compiled."""
        return (self.quality or {}).get("route") == LIBRARY

    @property
    def _label(self) -> str:
        if (self.quality or {}).get("route") == RUNNING:
            return _UNKNOWN
        return "the official library; only db_bench is compiled" if self.from_library else ""

    @property
    def _patched(self) -> str:
        return f"patched: {', '.join(self.patches)}" if self.patches else ""

    @property
    def told(self) -> str:
        """Its quality: suite bookworm; assertions yes"""
        return "; ".join(f"{name} {value}" for name, value in words(self.quality or {}))


def builds(facts: Mapping[str, Mapping[str, str]], runs: Iterable[Run], axes: Iterable[Axis]) -> dict[str, Build]:
    """By id, from the environment table, in the order of the axis; called as this report calls them."""
    labels = [label for axis in axes if axis.name == BUILD for label in axis.labels]
    called: dict[str, list[str]] = {}
    known = list(runs)
    clients = {run.client_id for run in known}
    for build, node in dict.fromkeys((run.build, run.build_id) for run in known if run.build in labels):
        called.setdefault(node, []).append(build)
    names = {node: sorted(found, key=labels.index) for node, found in called.items()}
    first = {node: labels.index(found[0]) for node, found in names.items()}
    subjects = sorted(facts, key=lambda subject: first.get(subject, len(labels)))
    return {node: _build(node, facts[node], names.get(node, ()), node in clients) for node in subjects}


def _build(subject: str, names: Mapping[str, str], called: Sequence[str], client: bool) -> Build:
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
        client,
        _patches(_json(names, "declared", {})),
    )


def _patches(declared: Mapping[str, Any]) -> list[str]:
    return [PurePosixPath(each["path"]).name for each in declared.get("recipe", {}).get("patches", ())]


def _json(names: Mapping[str, str], name: str, default: Any) -> Any:
    return json.loads(names[name]) if name in names else default


def caveat(known: Mapping[str, Build], point: Point, base: Point) -> str | None:
    """Why two points get no verdict: their binaries, or those of their clients, were not made alike."""
    one, other = base.runs[0], point.runs[0]
    said = _unlike(known, one.build_id, other.build_id, f"{base.build} and {point.build}")
    if said or one.client_id is None or other.client_id is None:
        return said
    names = [known[node].name if node in known else node for node in (one.client_id, other.client_id)]
    return _unlike(known, one.client_id, other.client_id, f"the clients {names[0]} and {names[1]}")


def mark(known: Mapping[str, Build], as_shipped: bool, point: Point, base: Point) -> str | None:
    """The caveat, and what it comes to."""
    found = caveat(known, point, base)
    return f"{AS_SHIPPED if as_shipped else NO_VERDICT}: {found}" if found else None


def _unlike(known: Mapping[str, Build], one: str, other: str, names: str) -> str | None:
    if one == other:
        return None
    before, after = (known[node].quality if node in known else None for node in (one, other))
    if before is None or after is None:
        return f"{names}: what one of them was built with is not recorded"
    return None if before == after else f"{names} were built differently: {differences(before, after)}"
