"""Figures of a command: its report, and what patterns and paths of the spec find in what it printed and wrote."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from msgspec import Struct, convert

from stepgrid.model.figures import NO_FIGURE, Figures, ParseError, decimal
from stepgrid.model.metrics import STEP, Metric
from stepgrid.model.units import as_number
from stepgrid.plugins import driver
from stepgrid.plugins.driver import RawOutputError, SampleFigure, is_inside
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import ClientReport
from stepgrid_databases.drivers.command import selectors
from stepgrid_databases.drivers.command.selectors import PatternError

PRINTED = ("stdout", "stderr")
TAKE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "first": lambda numbers: numbers[0],
    "last": lambda numbers: numbers[-1],
    "sum": math.fsum,
    "mean": fmean,
    "min": min,
    "max": max,
}
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_MOST_LINES, _LIKENESS = 2000, 0.3  # of a sample that are searched for a line like a pattern, and how like
_BEGINS = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)


class DeclaredFigure(Struct, frozen=True):
    """A metric that a step declares."""

    pattern: str | None = None
    json: str | None = None
    report: str | None = None
    file: str | None = None
    take: str = "last"
    times: float | None = None
    unit: str = ""
    better: Literal["higher", "lower"] | None = None
    required: bool = False

    @property
    def files(self) -> Sequence[str]:
        return (self.file,) if self.file else PRINTED


class DeclaredSeries(Struct, frozen=True):
    """A table of rates over time that a step declares: columns by name."""

    file: str
    time: str
    rate: str
    head: str | None = None
    unit: str = "s"
    times: float | None = None


class DeclaredOutput(Struct, frozen=True):
    """What a step declares of its output."""

    metrics: Mapping[str, DeclaredFigure] | None = None
    series: DeclaredSeries | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> DeclaredOutput:
        return convert(settings, cls)


class Outputs(Struct, frozen=True):
    """The files of a step, each read once for all of its metrics."""

    folder: Path
    _texts: dict[str, str | None] = {}
    _documents: dict[str, Any] = {}

    def text(self, name: str) -> str | None:
        """Read a file; None if it does not exist."""
        if name not in self._texts:
            if not is_inside(self.folder, name):
                raise ParseError(f"{name} cannot be read: a link leads out of the step's folder")
            self._texts[name] = _read(self.folder / name)
        return self._texts[name]

    def document(self, name: str) -> Any:
        """Read the first JSON value that begins a line: programs print other text before it. None: no such file."""
        if name not in self._documents:
            text = self.text(name)
            self._documents[name] = None if text is None else _document(name, text)
        return self._documents[name]

    def report(self) -> ClientReport:
        """Read the report that the program wrote, or else printed."""
        text = self.text(client_report.FILE)
        return client_report.parse(
            self.folder / client_report.FILE, self.text("stdout") or "" if text is None else text
        )


class NoFigureError(ParseError):
    """The output has nothing where a metric or a series is looked for."""


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    outputs, declared = Outputs(folder), DeclaredOutput.of(settings)
    report = outputs.report()
    metrics, warnings = client_report.standard_metrics(report), []
    for name, metric in (declared.metrics or {}).items():
        try:
            metrics[name] = _figure(name, metric, outputs, report)
        except NoFigureError as error:
            if metric.required:
                raise ParseError(f"metric `{name}`: {error}") from None
            warnings.append(f"metric `{name}`{NO_FIGURE}{error}")
    qps = client_report.series(report.intervals)
    if declared.series:
        try:
            qps = _series(outputs, declared.series)
        except NoFigureError as error:
            warnings.append(f"series{NO_FIGURE}{error}")
    figures = Figures(
        metrics,
        {str(line["name"]): str(line["value"]) for line in report.of("fact")},
        qps=qps,
        warnings=warnings,
        histograms=client_report.histograms(report),
        rates=client_report.client_rates(report.intervals),
        p99=client_report.p99_series(report),
    )
    return client_report.rated(report, figures)


def read_sample(folder: Path, settings: Mapping[str, Any]) -> Iterator[SampleFigure]:
    """Read each declared metric and the series by itself, so that all faults are told."""
    outputs, declared = Outputs(folder), DeclaredOutput.of(settings)
    for name, metric in (declared.metrics or {}).items():
        try:
            yield SampleFigure(name, _figure(name, metric, outputs, outputs.report()), metric.unit)
        except ParseError as error:
            nearest = _nearest_line(metric, outputs) if isinstance(error, NoFigureError) else ""
            yield SampleFigure(name, fault=str(error), nearest=nearest)
    if declared.series:
        try:
            rates = [rate for _, rate in _series(outputs, declared.series)]
            yield SampleFigure("series", fmean(rates) if rates else 0.0, f"/s, mean of {len(rates)} rows")
        except ParseError as error:
            yield SampleFigure("series", fault=str(error))


def own_metrics(settings: Mapping[str, Any]) -> dict[str, Metric]:
    """Describe the metrics that a spec names."""
    metrics = {}
    for name, metric in (DeclaredOutput.of(settings).metrics or {}).items():
        origin = f"at {metric.json}" if metric.json else f"by the pattern {metric.pattern}"
        if metric.report:
            origin = f"in its report as `{metric.report}`"
        definition = f"A figure of the command's own, found {origin}."
        metrics[name] = Metric(name, metric.unit, metric.better, definition, STEP)
    return metrics


def _figure(name: str, metric: DeclaredFigure, outputs: Outputs, report: ClientReport) -> float:
    numbers = [_number(name, metric, value) for value in _values(metric, outputs, report)]
    if not numbers:
        raise NoFigureError(_lacking(metric, outputs))
    return TAKE[metric.take](numbers) * (metric.times or 1.0)


def _values(metric: DeclaredFigure, outputs: Outputs, report: ClientReport) -> list[Any]:
    if metric.report:
        return [line.get("value") for line in report.of("metric") if line.get("name") == metric.report]
    if metric.json:
        document = outputs.document(metric.file or PRINTED[0])
        return [] if document is None else selectors.find(document, metric.json)
    texts = (outputs.text(name) or "" for name in metric.files)  # stdout goes before stderr
    try:
        return next(filter(None, (selectors.matches(metric.pattern or "", text) for text in texts)), [])
    except PatternError as error:
        raise ParseError(str(error)) from None


def _number(name: str, metric: DeclaredFigure, value: Any) -> float:
    """Convert a number, or one that is written as text; true is none."""
    number = decimal(value) if isinstance(value, str) else as_number(value)
    if number is None or not math.isfinite(number):
        source = "the report" if metric.report else metric.json or "its pattern"
        kinds = {dict: "an object", list: "a list", bool: str(value).lower()}
        raise ParseError(f"metric `{name}`: {source} found {kinds.get(type(value), f'`{value}`')}, which is no number")
    return number


def _lacking(metric: DeclaredFigure, outputs: Outputs) -> str:
    if metric.report:
        return f"the report has no metric `{metric.report}`"
    if metric.file and outputs.text(metric.file) is None:
        return f"there is no file {metric.file}"
    if metric.json:
        return f"{metric.file or PRINTED[0]} has nothing at {metric.json}"
    return f"nothing in {' or '.join(metric.files)} matches {metric.pattern}"


def _nearest_line(metric: DeclaredFigure, outputs: Outputs) -> str:
    """Find the line that is most like the words of a pattern; empty where none is."""
    words = re.sub(r"\(.*?\)|\\\w|[^\w ]", " ", metric.pattern or "")
    lines = [line for name in metric.files for line in (outputs.text(name) or "").splitlines()[:_MOST_LINES]]
    return next(iter(get_close_matches(words, lines, n=1, cutoff=_LIKENESS)), "")


def _read(path: Path) -> str | None:
    try:
        return driver.read_output(path).decode("utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except RawOutputError as error:
        raise ParseError(f"{path.name} cannot be read: {error}") from None


def _document(name: str, text: str) -> Any:
    begins = _BEGINS.search(text)
    if begins is None:
        raise NoFigureError(f"{name} holds no JSON: no line begins with {{ or [")
    try:
        return json.JSONDecoder().raw_decode(text, begins.end() - 1)[0]
    except json.JSONDecodeError as error:
        raise NoFigureError(f"{name} is no JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise ParseError(f"{name} is no JSON: it is nested too deep") from None
    except ValueError:  # of Python itself: turning digits into a number takes quadratic time
        raise ParseError(f"{name} has a number of more than {sys.get_int_max_str_digits():,} digits") from None


# Operations per second over time, of a table that a command wrote: columns by name.


def _series(outputs: Outputs, declared: DeclaredSeries) -> list[tuple[float, float]]:
    """Read seconds and rate in the order of time; rows of one time are parts of one rate, such as reads and writes."""
    text = outputs.text(declared.file)
    if text is None:
        raise NoFigureError(f"there is no file {declared.file}")
    unit, factor = UNITS[declared.unit], declared.times or 1.0
    rates: dict[float, float] = {}
    for moment, value in _rows(text.splitlines(), declared):
        rates[moment * unit] = rates.get(moment * unit, 0.0) + value * factor
    return sorted(rates.items())


def _rows(lines: Sequence[str], declared: DeclaredSeries) -> Iterator[tuple[float, float]]:
    file, head = declared.file, declared.head
    rows = csv.reader([head, *lines] if head else lines, skipinitialspace=True)
    columns = next(rows, [])
    for name in (declared.time, declared.rate):
        if name not in columns:
            raise NoFigureError(f"{file} has no column `{name}`; it has: {', '.join(columns) or 'none'}")
    indices = columns.index(declared.time), columns.index(declared.rate)
    for row in filter(None, rows):
        texts = [row[index] if index < len(row) else "" for index in indices]
        moment, value = map(decimal, texts)
        for text, number in zip(texts, (moment, value), strict=True):
            if not math.isfinite(number):
                line = rows.line_num - bool(head)
                raise ParseError(f"series: line {line} of {file} has `{text}`, which is no number")
        yield moment, value
