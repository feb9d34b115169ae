"""How a table of the report is arranged: what goes down, across and into blocks of its own, and what it is held to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepgrid.model.plan import BUILD, Axis
from stepgrid.plugins.layout import ARMS, BASE, DEFAULT_LAYOUT, STEP, Layout
from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.tables.point_filter import label

Said = Mapping[str, Any]  # a table as the spec says it


@dataclass(frozen=True, slots=True)
class Arrangement:
    layout: Layout
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    by: tuple[str, ...]
    base: Mapping[str, str] | None
    metrics: tuple[str, ...]
    called: Mapping[str, str] = field(default_factory=dict)
    counters: tuple[str, ...] = ()
    top: int | None = None


def arrangement(
    said: Said, axes: Sequence[Axis], points: Sequence[Point], report_base: Mapping[str, str]
) -> Arrangement:
    form = LAYOUTS.get(said.get("layout", DEFAULT_LAYOUT))
    varying = [name for name in (STEP, *(axis.name for axis in axes)) if _varies(name, points)]
    base = _base(said, form, axes, varying, report_base)
    rows, columns, by = _axes(said, form, varying, base or {})
    own = tuple(map(_metric, said.get("metrics", ())))
    counters, called = tuple(said.get("counters", ())), said.get("labels", {})
    shown = own or (() if counters else _default(form))
    return Arrangement(
        form, said.get("title", form.title), rows, columns, by, base, shown, called, counters, said.get("top")
    )


def _default(form: Layout) -> tuple[str, ...]:
    return form.metrics if form.own_metrics else ()


def _metric(name: str) -> str:
    """By our own name: a published one stands for it."""
    from stepgrid.plugins import metrics

    return metrics.metric_name(name) or name


def _varies(axis: str, points: Iterable[Point]) -> bool:
    found: set[str] = set()
    for point in points:
        at = label(point, axis)
        found |= {at} if at is not None else set()
        if len(found) > 1:
            return True
    return False


def _base(
    said: Said, form: Layout, axes: Sequence[Axis], varying: Sequence[str], report_base: Mapping[str, str]
) -> Mapping[str, str] | None:
    """Its own; where a layout compares and there is none, the report's, unless the columns are of another axis."""
    if "base" in said:
        own: Mapping[str, str] = said["base"]
        return own
    if not form.compares:
        return None
    across = [name for name in said.get("columns", ()) if name != STEP]
    if across and not set(report_base) & set(across):
        return {name: next(axis.labels[0] for axis in axes if axis.name == name) for name in across[:1]}
    return report_base or None


def _axes(
    said: Said, form: Layout, varying: Sequence[str], base: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What the table leaves open goes where the layout has its arms, or makes blocks: no figure hides another."""
    given = {key: tuple(said[key]) for key in ("rows", "columns", "by") if key in said}
    used = {name for names in given.values() for name in names}
    places = {"rows": form.rows, "columns": form.columns, "by": form.by if "layout" in said else ()}
    found: dict[str, tuple[str, ...]] = {}
    for key, default in places.items():
        named = (name for each in default for name in (tuple(base) if each == BASE else (each,)))
        found[key] = given.get(key) or tuple(
            name for name in named if name not in used and name in (*varying, STEP, ARMS, *base)
        )
    open_ = tuple(name for name in varying if not any(name in names for names in found.values()))
    if not any(ARMS in names for names in found.values()):
        found["by"] = (*found["by"], *open_)
    filled = {key: _filled(names, open_) for key, names in found.items()}
    alone = BUILD if STEP in (*filled["by"], *filled["columns"]) else STEP
    return filled["rows"] or (alone,), filled["columns"], filled["by"]


def _filled(names: Sequence[str], open_: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for each in names for name in (open_ if each == ARMS else (each,)))
