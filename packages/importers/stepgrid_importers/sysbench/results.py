"""The runs, and the tables' figures of runs whose raw output is not there, as results like our own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from stepgrid.model.figures import Figures
from stepgrid_importers.shared import iostat, vmstat
from stepgrid_importers.sysbench import names, tables
from stepgrid_importers.sysbench.rates import definition, rate, rows_per_s, scanned
from stepgrid_importers.sysbench.runs import NOTE, Run, disk_figures, host_figures, per_operation
from stepgrid_importers.sysbench.tables import Row, Table
from stepgrid_published.importer import ImportedStep

TABLE = "table"  # the axis of tables that have other figures of the same runs


def measured(
    runs: Sequence[Run], found: Sequence[Table], device: str | None, guessed: str | None
) -> list[ImportedStep]:
    """Tables first: their columns are in the order of a post. A run's own output is better than a table's figure."""
    several = [axis for axis in ("dop", "pk") if len({getattr(run.test, axis) for run in runs}) > 1]
    own = [_run(run, several, device, guessed) for run in _in_order(runs)]
    known = {(names.build(run.directory)[0], run.test.row) for run in runs}
    shown = {(names.build(run.directory)[0], run.test.row, _rounded(run)) for run in runs}
    apart = tables.disagreeing(found)
    listed: dict[tuple[str, str, str], ImportedStep] = {}
    for table in found:
        label = table.name if table.name in apart else ""
        for each in _listed(table, label):
            (value,) = each.figures.metrics.values()
            there = (each.build, each.step, f"{value:.0f}") in shown
            if not (there if label else (each.build, each.step) in known):
                listed[each.build, each.step, label] = each
    return [*listed.values(), *own]


def _rounded(run: Run) -> str:
    """As a table has it."""
    found = rate(run)
    return "" if found is None else f"{float(found):.0f}"


def _in_order(runs: Sequence[Run]) -> Iterator[Run]:
    """By directory, the tests as tables have them."""
    for directory in dict.fromkeys(run.directory for run in runs):
        found = {run.test: run for run in runs if run.directory == directory}
        yield from (found[test] for test in names.ordered(found))


def _run(run: Run, several: Sequence[str], device: str | None, guessed: str | None) -> ImportedStep:
    output = run.output
    figures = output.figures
    warnings = [*figures.warnings, *([guessed] if guessed and run.io else [])]
    host = {"kernel": run.io.kernel, "cores": run.io.cores} if run.io else {}
    return ImportedStep(
        build=names.build(run.directory)[0],
        step=run.test.row,
        figures=Figures(_metrics(run, device), _facts(run, device), figures.qps, warnings),
        labels={axis: getattr(run.test, axis) for axis in several},
        files=run.files,
        failure=output.failure,
        seconds=figures.metrics.get("seconds"),
        started=_started(run),
        argv=argv(output.command),
        host={name: value for name, value in host.items() if value is not None},
    )


def _metrics(run: Run, device: str | None) -> dict[str, float]:
    found = dict(run.output.figures.metrics)
    if (scans := scanned(run)) is not None:
        found["rows_per_s"] = rows_per_s(scans)
    if run.io is not None and (samples := run.io.devices.get(device or "")):
        found |= iostat.figures(samples)
    elif run.io is None:
        found |= disk_figures(run.cells)
    found |= vmstat.figures(run.vm) if run.vm is not None else host_figures(run.cells)
    return found | per_operation(found, found.get("qps", 0.0)) | _cpu(run, found.get("qps"))


def _cpu(run: Run, rate: float | None) -> dict[str, float]:
    if run.vm is None or run.io is None or not run.io.cores or not rate:
        return {}
    return {"host_cpu_us_per_op": vmstat.clean(run.vm).busy / 100 * run.io.cores * 1e6 / rate}


def _facts(run: Run, device: str | None) -> dict[str, str]:
    scans = scanned(run)
    return {
        **run.output.figures.facts,
        **({"device": device} if device and run.io else {}),
        **({"published scan rate": definition(run, scans)} if scans else {}),
        **({"precision": NOTE} if run.cells else {}),
    }


def _started(run: Run) -> str | None:
    """What is known is when the file was last written, which is when it ended: without a length there is no start."""
    seconds = run.output.figures.metrics.get("seconds")
    return None if seconds is None else datetime.fromtimestamp(run.when - seconds, UTC).isoformat()


def _listed(table: Table, label: str) -> Iterator[ImportedStep]:
    """`label`: of a table that disagrees with another one."""
    for column, directory in enumerate(table.columns):
        for row in table.rows:
            value = row.values[column]
            if value is not None:
                yield ImportedStep(
                    build=names.build(directory)[0],
                    step=row.name,
                    figures=Figures({_metric(row): value}),
                    labels={TABLE: label} if label else {},
                    source=f"{table.path.name}:{row.line}",
                )


def _metric(row: Row) -> str:
    return "scan_rate" if row.name.startswith((f"{names.SCAN}_", f"{names.SCAN}.")) else "qps"


# The command that a run's output begins with, without what is nobody's business.

_SECRET = re.compile(r"(--[a-z-]{0,40}password=).*")


def argv(line: str) -> tuple[str, ...]:
    return tuple(_SECRET.sub(r"\1…", word) for word in line.split())
