"""The steps of each configuration, and the seconds of its probes, for the store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from stepgrid.model.figures import Figures
from stepgrid.plugins.importer import ImportedStep
from stepgrid_importers.insert_benchmark import metric_rows, probe, step_figures
from stepgrid_importers.insert_benchmark.folder import Records
from stepgrid_importers.insert_benchmark.merged_tables import short
from stepgrid_importers.insert_benchmark.metric_rows import Sum

ROWS = "rows"  # an axis: how many there were, as the tag has it
UNKNOWN = "unknown"
_ROWS = re.compile(r"(\d+m)\.")


def measured(found: Records) -> list[ImportedStep]:
    """A probe at the start of a step that is here as well is a figure of that step."""
    each = metric_rows.sums(found)
    steps = {(one.tag, one.step): _step(one, metric_rows.clients(each, one.tag)) for one in each}
    for tag, step, seconds, source in _probes(found):
        known = steps.get((tag, step)) or ImportedStep(short(tag), step, source=source)
        steps[tag, step] = replace(known, figures=_with(known.figures, seconds))
    usual = _usual(found)
    rows = {tag: _rows(tag) or usual for tag, _ in steps}
    several = len(set(rows.values())) > 1
    return [replace(one, labels={ROWS: rows[tag]}) if several else one for (tag, _), one in steps.items()]


def figures(one: Sum, clients: int | None) -> Figures:
    return step_figures.of_raw(one.raw, one.step) if one.raw else step_figures.of_row(one.cells, one.step, clients)


def _step(one: Sum, clients: int | None) -> ImportedStep:
    found = figures(one, clients)
    host = {"kernel": one.raw.kernel, "cores": one.raw.cores} if one.raw else {}
    return ImportedStep(
        build=short(one.tag),
        step=one.step,
        figures=found,
        files=one.raw.files if one.raw else (),
        source="" if one.line is None or one.raw else f"{one.path.name}:{one.line}",
        seconds=found.metrics.get("seconds"),
        host={name: value for name, value in host.items() if value is not None},
    )


def _usual(found: Records) -> str:
    """Merges leave out how many rows there were: those of the summaries beside them, where these agree."""
    said = {rows for tag in metric_rows.summaries(found) if (rows := _rows(tag))}
    return said.pop() if len(said) == 1 else UNKNOWN


def _probes(found: Records) -> Iterator[tuple[str, str, float, str]]:
    for path, probes in found.probes.items():
        for one in sorted(probes, key=lambda each: each.line):
            for step, seconds in zip(probe.STEPS, one.seconds, strict=True):
                yield one.tag, step, float(seconds), f"{path.name}:{one.line}"


def _with(figures: Figures, seconds: float) -> Figures:
    return replace(figures, metrics={**figures.metrics, step_figures.PROBE: seconds})


def _rows(tag: str) -> str | None:
    found = _ROWS.match(tag)
    return found[1] if found else None
