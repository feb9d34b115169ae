"""The published summary files: sb.met of each run, o.met of all, qps.abs of the runs, qps.rel of each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stepgrid_importers.shared import vmstat
from stepgrid_importers.sysbench import names, qps, sb_met, summary
from stepgrid_importers.sysbench.qps import Row, Section, Table
from stepgrid_importers.sysbench.rate import rate
from stepgrid_importers.sysbench.runs import MET, Run
from stepgrid_importers.sysbench.sb_met import Met

Key = tuple[str, names.Test]


def summaries(runs: Sequence[Run], tables: Sequence[Table], device: str | None) -> Mapping[str, str]:
    mets = {_key(run): found for run in runs if (found := of(run, device)) is not None}
    several = len({run.directory for run in runs}) > 1
    files = {_name(run, several): mets[_key(run)].text for run in runs if _key(run) in mets and not run.cells}
    files |= _overviews(runs, mets)
    made = list(_made(runs))
    files |= {table.path.name: qps.absolute(table) for table in made}
    for table in (*made, *tables):
        if len(table.columns) > 1:
            relative = qps.relative_name(table.path.name)
            files |= {relative: qps.relative(table), relative + qps.EDIT: qps.edited(table)}
    return files


def of(run: Run, device: str | None) -> Met | None:
    """The published one where iostat or vmstat is not there; None without either, or without a rate."""
    if run.cells:
        return sb_met.of_cells(run.cells)
    per_second = rate(run)
    samples = run.io.devices.get(device or "") if run.io else None
    if not samples or run.vm is None or not per_second or not float(per_second):
        return None
    return sb_met.met(per_second, samples, vmstat.published(run.vm))


def _key(run: Run) -> Key:
    return run.directory, run.test


def _name(run: Run, several: bool) -> str:
    """In a directory of its own, where it was in one."""
    name = MET + run.test.suffix
    return f"{run.directory}/{name}" if several else name


def _overviews(runs: Sequence[Run], mets: Mapping[Key, Met]) -> Mapping[str, str]:
    """One for each number of clients."""
    counted = [run for run in sorted(runs, key=_turn) if _key(run) in mets]
    dops = dict.fromkeys(run.test.dop for run in counted)
    called = {dop: summary.NAME if len(dops) == 1 else f"{summary.NAME}.dop{dop}" for dop in dops}
    return {name: _overview([run for run in counted if run.test.dop == dop], mets) for dop, name in called.items()}


def _overview(runs: Sequence[Run], mets: Mapping[Key, Met]) -> str:
    """Builds by their directories' names: the first is the base."""
    rows: dict[str, dict[str, Met]] = {MET + run.test.suffix: {} for run in runs}
    for run in sorted(runs, key=lambda run: run.directory):
        rows[MET + run.test.suffix][run.directory] = mets[_key(run)]
    return summary.summary(rows)


def _turn(run: Run) -> tuple[bool, float, str]:
    """As they were run; scans last."""
    return run.test.scans, run.when, run.test.suffix


def _made(runs: Sequence[Run]) -> Iterator[Table]:
    """A table of queries per second for each number of clients."""
    for dop in sorted({run.test.dop for run in runs}, key=int):
        rates = {(run.directory, run.test): rate(run) for run in runs if run.test.dop == dop and run.test.shown}
        directories = list(dict.fromkeys(directory for directory, _ in rates))
        tests = names.ordered(dict.fromkeys(test for _, test in rates))
        rows = [_row(test, [rates.get((directory, test)) for directory in directories]) for test in tests]
        if rows:
            yield Table(Path(f"{qps.ABSOLUTE}.dop{dop}.tsv"), directories, [Section("", rows)])


def _row(test: names.Test, rates: Sequence[str | None]) -> Row:
    return Row(test.row, [None if rate is None else float(rate) for rate in rates], 0)
