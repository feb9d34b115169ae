"""Parsed steps for people: figures with their units in the groups of docs/metrics.md, the levels, what counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stepgrid.model import number_format
from stepgrid.model.figures import Figures, PrintedStep
from stepgrid.model.level_headings import HEADINGS
from stepgrid.model.table import Cell, Column, Table
from stepgrid.model.units import counted
from stepgrid.plugins.metrics import SECTIONS, unit
from stepgrid.summarize.formats.text import aligned, lines, wrapped

WIDTH = 100
OTHER = "Others"
LONG = 60  # letters of a fact: options and the like are for json


def text(path: Path, steps: Sequence[PrintedStep]) -> str:
    found = [f"{path}: {counted(len(steps), 'step')}"]
    for number, step in enumerate(steps, 1):
        found += ["", *_step(number, step)]
    return "".join(f"{line}\n" for line in found)


def _step(number: int, step: PrintedStep) -> Iterator[str]:
    yield f"{number}. {step.name}"
    yield from _about(step.figures)
    for title, metrics in _groups(step.figures.metrics).items():
        yield from ("", f"  {title}")
        yield from _figures(metrics)
    yield from _levels("Levels", step.figures, "level")
    yield from _levels("By priority of the threads", step.figures, "priority")
    yield from _counters(step.figures.counters)
    yield from _beside(step)


def _about(found: Figures) -> Iterator[str]:
    facts = ", ".join(f"{name} {value}" for name, value in found.facts.items() if len(value) <= LONG)
    for said in (facts, *(f"warning: {warning}" for warning in found.warnings)):
        yield from wrapped(said, width=WIDTH)


def _groups(metrics: Mapping[str, float]) -> dict[str, dict[str, float]]:
    groups = {title: [metric.name for metric in section] for title, section in SECTIONS.items()}
    known = {name for names in groups.values() for name in names}
    groups[OTHER] = [name for name in metrics if name not in known]
    found = {title: {name: metrics[name] for name in names if name in metrics} for title, names in groups.items()}
    return {title: each for title, each in found.items() if each}


def _figures(metrics: Mapping[str, float]) -> Iterator[str]:
    """Bytes are shown with a unit of their own."""
    units = {name: "" if unit(name) == "B" else unit(name) for name in metrics}
    rows = [(name, number_format.figure(value, unit(name)), units[name]) for name, value in metrics.items()]
    yield from aligned(rows, "    ", right=[1])


def _levels(title: str, found: Figures, label: str) -> Iterator[str]:
    rows = [row for row in found.levels if label in row]
    heads = [head for head in HEADINGS if any(head in row for row in rows)]
    if not heads:
        return
    families = len({row.get("family") for row in rows}) > 1
    named = [Column(label, label=True), *(Column(HEADINGS[head][0]) for head in heads)]
    cells = tuple(
        (Cell(f"{row['family']} {row[label]}" if families else str(row[label])), *(_cell(row, head) for head in heads))
        for row in rows
    )
    yield from ("", f"  {title}")
    yield from lines(Table(title, tuple(named), cells), "    ")


def _cell(row: Mapping[str, float | str], head: str) -> Cell:
    value = row.get(head)
    return Cell(HEADINGS[head][1](value) if isinstance(value, int | float) else "-")


def _counters(counters: Mapping[str, float]) -> Iterator[str]:
    """Those that counted something; what is known of an engine's own histograms is left to json."""
    parts = {name.rpartition(".")[0] for name in counters if name.endswith(".sum")}
    shown = {
        name: f"{value:,.0f}"
        for name, value in counters.items()
        if value and name.rpartition(".")[0] not in parts and "@" not in name
    }
    if not shown:
        return
    yield from ("", f"  Counters: {len(shown)} of {len(counters)}, without those of histograms and those at 0")
    yield from aligned(shown.items(), "    ", right=[1])


def _beside(step: PrintedStep) -> Iterator[str]:
    if series := [qps for _, qps in step.figures.qps]:
        low, high = (number_format.figure(each) for each in (min(series), max(series)))
        yield from (
            "",
            f"  QPS over time: {counted(len(series), 'point')}, {low} to {high} operations/s (json has them)",
        )
    if reads := step.figures.file_reads:
        yield from ("", f"  reads of files of {counted(len(reads), 'level')} (json has them)")
    if rates := step.figures.rates:
        clients = len({each.client for each in rates})
        points = f"{counted(len(rates), 'interval')} of {counted(clients, 'client')}"
        yield from ("", f"  {points} (json has them)")
