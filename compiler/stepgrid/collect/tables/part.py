"""A part of the tables: what the steps of some results say, one file per table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from stepgrid.collect.damage import damage, explained
from stepgrid.collect.figures import missed_lookups, probes
from stepgrid.collect.figures.step_figures import StepFigures, every
from stepgrid.collect.samples.sample_figures import PER_SECOND
from stepgrid.collect.tables import environment, parquet_columns
from stepgrid.collect.tables.matrices import Figures, Grid, Records, matrix
from stepgrid.collect.tables.parquet_columns import Point, Rows, Table
from stepgrid.model import result_schema
from stepgrid.model.figures import Buckets, ClientRate
from stepgrid.model.plan import PlannedStage
from stepgrid.model.status import BrokenRecord, Result

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


ENGINE = "engine"  # whose counters: the step's engine's, beside those of collectors and probes
FIGURES, SECONDS = "figures", "step_seconds"
Columns = Mapping[str, "parquet_columns.Column"]
PARTS: Mapping[str, Mapping[str, str]] = {
    **result_schema.PARTS,
    "samples": {**result_schema.SAMPLES, **dict.fromkeys(PER_SECOND, parquet_columns.NUMBER)},
}


class Part:
    """Grows by some results after the other."""

    def __init__(self, stages: Mapping[str, PlannedStage] = MappingProxyType({})) -> None:
        """`stages`: of the plan, by id."""
        self._stages = stages
        self.grids = {name: Grid(PARTS[name]) for name in ("samples", "series")}
        self.records = {name: Records(PARTS[name]) for name in ("levels", "sizes")}
        self.tables = {
            name: Table(PARTS[name]) for name in ("rates", "latencies", "histograms", "counters", "attempts")
        }
        self._steps = Table(
            {name: kind for name, kind in result_schema.figures(()).items() if kind != parquet_columns.NUMBER}
        )
        self._figures = Figures(SECONDS)  # of the same steps

    @property
    def rows(self) -> int:
        return self._steps.rows + sum(table.rows for table in self._all().values())

    def _all(self) -> Mapping[str, Rows]:
        return {**self.grids, **self.records, **self.tables}

    def add(self, results: Sequence[tuple[PlannedStage, Result]]) -> list[BrokenRecord]:
        """Gives the damaged ones: of these it has no rows."""
        found, broken = every([(result, stage.steps) for stage, result in results]), list[BrokenRecord]()
        for (stage, result), own in zip(results, found, strict=True):
            if why := damage(result, own):
                broken.append(BrokenRecord(stage.id, result.folder, why))
            else:
                self._result(stage, result, missed_lookups.told(stage, self._stages, explained(result, own)))
        return broken

    def _result(self, stage: PlannedStage, result: Result, found: Sequence[StepFigures]) -> None:
        self._environment(stage, result, found)
        self._rows(stage, result, found)

    def _rows(self, stage: PlannedStage, result: Result, found: Sequence[StepFigures]) -> None:
        for index, (step, each) in enumerate(zip(stage.steps, found, strict=True)):
            point = Point(stage.id, result.folder.name, index, step.name)
            record, folder = result.steps[index], result.folders[index]
            self._step(point, each, record)
            self._steps.add(point, _said(each, record, folder))
            self._figures.add(_figures(each, record))

    def _environment(self, stage: PlannedStage, result: Result, found: Sequence[StepFigures]) -> None:
        said = [(each.facts, each.start) for each in found]
        rows = list(environment.attempt(f"{stage.id}/{result.folder.name}", result, said))
        names = result_schema.ENVIRONMENT
        self.tables["attempts"].add(Point("", "", 0, ""), {name: [row[name] for row in rows] for name in names})

    def _step(self, point: Point, found: StepFigures, record: Mapping[str, Any]) -> None:
        if found.error:
            return
        if found.samples is not None:
            self.grids["samples"].add(point, found.samples)
        self.grids["series"].add(point, matrix(2, found.qps))
        self.tables["rates"].add(point, _named(ClientRate._fields, _rates(found)))
        self.tables["latencies"].add(point, _named(("operation", "percentile", "microseconds"), _latencies(found)))
        for histogram in found.histograms:
            self.tables["histograms"].add(point, _buckets(histogram))
        self.tables["counters"].add(point, _named(("source", "name", "grown"), _counters(found, record)))
        self.records["levels"].add(point, found.levels)
        self.records["sizes"].add(point, found.sizes)

    def write(self, connection: DuckDBPyConnection, paths: Mapping[str, Path]) -> None:
        for name, table in self._all().items():
            parquet_columns.write(connection, paths[name], table.types, table.arrays())
        figures = self._figures.arrays()
        parquet_columns.write(
            connection, paths[FIGURES], result_schema.figures(figures), {**self._steps.arrays(), **figures}
        )


def _said(found: StepFigures, record: Mapping[str, Any], folder: Path) -> Columns:
    """What `steps` is made of, with `_figures`: a row."""
    said = () if found.error else [*found.warnings, *record.get("warnings", ())]  # of the server, too
    return {
        "folder": [str(folder)],
        "started": [result_schema.utc(record.get("started"))],
        "error": [found.error],
        "warnings": [None if found.error else result_schema.SEPARATOR.join(said)],
    }


def _figures(found: StepFigures, record: Mapping[str, Any]) -> Mapping[str, float | None]:
    taken: Mapping[str, float | None] = probes.figures(record)
    own = {**found.metrics, **(dict.fromkeys(taken) if found.error else taken)}
    return {SECONDS: record.get("seconds"), **own}


def _named(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}


def _rates(found: StepFigures) -> list[tuple[Any, ...]]:
    return [(client, second, name or None, *rest) for client, second, name, *rest in found.rates]


def _latencies(found: StepFigures) -> list[tuple[str | None, float, float]]:
    return [(*at, found.metrics[name]) for name, at in _percentiles(tuple(found.metrics))]


@lru_cache(64)  # most steps have the metrics of another one
def _percentiles(metrics: tuple[str, ...]) -> list[tuple[str, tuple[str | None, float]]]:
    return [(name, at) for name in metrics if (at := percentile(name)) is not None]


def _buckets(found: Buckets) -> Columns:
    return {**found._asdict(), "operation": [found.operation or None] * len(found.least)}


def _counters(found: StepFigures, record: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    own: Iterator[tuple[str, str, float]] = ((ENGINE, name, value) for name, value in found.counters.items())
    return [*own, *found.counted, *probes.counted(record)]


# Percentiles by name: which metrics are rows of the table `latencies`.

_PERCENTILE = re.compile(r"(?:(?P<operation>[a-z]+)_)?p(?P<whole>\d+)(?:_(?P<rest>\d+))?_us")


@lru_cache(4096)  # of the same few names for every step
def percentile(metric: str) -> tuple[str | None, float] | None:
    """p99_9_us -> (None, 99.9), read_p50_us -> ("read", 50); None for a metric that is no percentile."""
    match = _PERCENTILE.fullmatch(metric)
    return (match["operation"], float(f"{match['whole']}.{match['rest'] or 0}")) if match else None
