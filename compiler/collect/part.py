"""A part of the tables: what the steps of some results say, one file per table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.collect import columnar, environment, probed, schema
from compiler.collect.columnar import Grid, Point, Rows, Table
from compiler.collect.figures import StepFigures, figures
from compiler.collect.latencies import percentile
from compiler.collect.states import State
from compiler.collect.usage import of
from compiler.drivers.protocol import BUCKET
from compiler.plan.model import PlannedStage

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ENGINE = "engine"  # whose counters: the step's engine's, beside those of probes
SAMPLES, FIGURES = "samples", "figures"
Columns = Mapping[str, "columnar.Column"]


class Part:
    """Grows by one result after the other."""

    def __init__(self) -> None:
        self.tables = {name: Table(types) for name, types in schema.PARTS.items() if name != SAMPLES}
        self.samples = Grid(schema.PARTS[SAMPLES])
        self.metrics: dict[str, None] = {}
        self._figures: list[Mapping[str, Any]] = []

    @property
    def rows(self) -> int:
        return len(self._figures) + sum(table.rows for table in self._all().values())

    def _all(self) -> Mapping[str, Rows]:
        return {**self.tables, SAMPLES: self.samples}

    def add(self, stage: PlannedStage, state: State) -> None:
        assert state.result is not None
        found = figures(state, stage.steps)
        self._environment(f"{stage.id}/{state.result.name}", state, found)
        for index, (step, each) in enumerate(zip(stage.steps, found, strict=True)):
            point = Point(stage.id, state.result.name, index, step.name)
            record, folder = state.steps[index], state.folders[index]
            self._step(point, each, record, folder)
            self._figures.append(_figures(point, each, record, folder))
            self.metrics |= dict.fromkeys([*each.metrics, *probed.figures(record)])

    def _environment(self, subject: str, state: State, found: Sequence[StepFigures]) -> None:
        rows = list(environment.attempt(subject, state, [each.facts for each in found]))
        names = schema.ENVIRONMENT
        self.tables["attempts"].add(Point("", "", 0, ""), {name: [row[name] for row in rows] for name in names})

    def _step(self, point: Point, found: StepFigures, record: Mapping[str, Any], folder: Path) -> None:
        if found.error:
            return
        samples = of(folder).series() if found.samples is None else found.samples
        self.samples.add(point, samples)
        self.tables["series"].add(point, _named(("second", "qps"), found.qps))
        self.tables["latencies"].add(point, _named(("operation", "percentile", "microseconds"), _latencies(found)))
        self.tables["histograms"].add(point, _buckets(found))
        self.tables["counters"].add(point, _named(("source", "name", "grown"), _counters(found, record)))
        self.tables["levels"].add(point, _levels(found))

    def write(self, connection: DuckDBPyConnection, paths: Mapping[str, Path]) -> None:
        for name, table in self._all().items():
            columnar.write(connection, paths[name], table.types, table.arrays())
        types = schema.figures(self.metrics)
        columnar.write(connection, paths[FIGURES], types, _columns(types, self._figures))


def _columns(types: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    import numpy as np

    return {
        name: np.ma.masked_invalid(np.array([row.get(name) for row in rows], float))
        if kind == columnar.NUMBER
        else np.array([row.get(name) for row in rows], object)
        for name, kind in types.items()
    }


def _figures(point: Point, found: StepFigures, record: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """A row of what `steps` is made of."""
    common = {
        "stage": point.stage,
        "attempt": point.attempt,
        "position": point.position,
        "folder": str(folder),
        "started": schema.utc(record.get("started")),
        "step_seconds": record.get("seconds"),
        "error": found.error,
    }
    if found.error:
        return common
    said = schema.SEPARATOR.join([*found.warnings, *record.get("warnings", ())])  # of the server, too
    return {**common, "warnings": said, **found.metrics, **probed.figures(record)}


def _named(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}


def _latencies(found: StepFigures) -> list[tuple[str | None, float, float]]:
    known = ((percentile(name), value) for name, value in found.metrics.items())
    return [(*at, value) for at, value in known if at is not None]


def _buckets(found: StepFigures) -> Columns:
    """There are a hundred of a step: by column."""
    columns = _named(BUCKET, found.histograms)
    return {**columns, "operation": [name or None for name in columns["operation"]]} if columns else {}


def _counters(found: StepFigures, record: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    own: Iterator[tuple[str, str, float]] = ((ENGINE, name, value) for name, value in found.counters.items())
    return [*own, *probed.counted(record)]


def _levels(found: StepFigures) -> Columns:
    names = dict.fromkeys(name for level in found.levels for name in level)
    return {name: [level.get(name) for level in found.levels] for name in names}
