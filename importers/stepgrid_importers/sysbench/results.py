"""The runs, and the tables' figures of runs whose raw output is not there, as results like our own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from stepgrid.model.figures import Figures
from stepgrid.plugins.importer import Faults, ImportedStep
from stepgrid_importers.shared import iostat, vmstat
from stepgrid_importers.sysbench import names, scan
from stepgrid_importers.sysbench.qps import Row, Table
from stepgrid_importers.sysbench.rate import definition, scanned
from stepgrid_importers.sysbench.runs import Run

Labels = Mapping[str, str]


def measured(
    runs: Sequence[Run], tables: Sequence[Table], device: str | None, guessed: str | None
) -> list[ImportedStep]:
    """Tables first: their columns are in the order of a post. A run's own output is better than a table's figure."""
    several = [axis for axis in ("dop", "pk") if len({getattr(run.test, axis) for run in runs}) > 1]
    own = [_run(run, several, device, guessed) for run in _in_order(runs)]
    known = {(each.build, each.step) for each in own}
    listed = {(each.build, each.step): each for table in tables for each in _listed(table)}
    return [*(each for key, each in listed.items() if key not in known), *own]


def check(runs: Sequence[Run], tables: Sequence[Table], faults: Faults) -> None:
    """Two tables may show one run, with one figure."""
    _columns(tables, faults)
    seen: dict[tuple[str, str], tuple[float, Table, Row]] = {}
    for table in tables:
        for row in table.rows:
            for directory, value in zip(table.columns, row.values, strict=True):
                if value is not None:
                    first = seen.setdefault((directory, row.name), (value, table, row))
                    if first[0] != value:
                        other = f"{first[1].path.name}:{first[2].line} has {first[0]:g}"
                        said = f"{row.name} of {directory} is {value:g} here, and {other}: import them one by one"
                        faults.add(table.path, row.line, said)


def _columns(tables: Sequence[Table], faults: Faults) -> None:
    """Directories that differ in their primary key alone are one build, which has one figure of a test."""
    for table in tables:
        first: dict[str, str] = {}
        for directory in table.columns:
            build = names.build(directory)[0]
            if (other := first.setdefault(build, directory)) != directory:
                said = f"{other} and {directory} are both {build}: import one of them at a time"
                faults.add(table.path, None, said)


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
        found["rows_per_s"] = scan.clean(scans)
    if run.io is not None and (samples := run.io.devices.get(device or "")):
        found |= iostat.figures(samples)
    if run.vm is not None:
        found |= vmstat.figures(run.vm)
        found |= _per_operation(run, found.get("qps"))
    return found


def _per_operation(run: Run, rate: float | None) -> dict[str, float]:
    if run.vm is None or not rate:
        return {}
    means = vmstat.clean(run.vm)
    found = {"context_switches_per_op": means.switches / rate}
    if run.io is not None and run.io.cores:
        found["host_cpu_us_per_op"] = means.busy / 100 * run.io.cores * 1e6 / rate
    return found


def _facts(run: Run, device: str | None) -> dict[str, str]:
    scans = scanned(run)
    return {
        **run.output.figures.facts,
        **({"device": device} if device and run.io else {}),
        **({"published scan rate": definition(run, scans)} if scans else {}),
    }


def _started(run: Run) -> str | None:
    """What is known is when the file was last written, which is when it ended: without a length there is no start."""
    seconds = run.output.figures.metrics.get("seconds")
    return None if seconds is None else datetime.fromtimestamp(run.when - seconds, UTC).isoformat()


def _listed(table: Table) -> Iterator[ImportedStep]:
    for column, directory in enumerate(table.columns):
        for row in table.rows:
            value = row.values[column]
            if value is not None:
                yield ImportedStep(
                    build=names.build(directory)[0],
                    step=row.name,
                    figures=Figures({_metric(row): value}),
                    source=f"{table.path.name}:{row.line}",
                )


def _metric(row: Row) -> str:
    return "scan_rate" if row.name.startswith((f"{names.SCAN}_", f"{names.SCAN}.")) else "qps"


# The command that a run's output begins with, without what is nobody's business.

_SECRET = re.compile(r"(--[a-z-]*password=).*")


def argv(line: str) -> tuple[str, ...]:
    return tuple(_SECRET.sub(r"\1…", word) for word in line.split())
