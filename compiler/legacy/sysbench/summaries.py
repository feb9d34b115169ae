"""The published summary files: sb.met of each run, o.met of all, qps.abs of the runs, qps.rel of each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compiler.legacy import vmstat
from compiler.legacy.sysbench import met, names, qps, summary
from compiler.legacy.sysbench.met import Met
from compiler.legacy.sysbench.qps import Row, Table
from compiler.legacy.sysbench.rate import rate
from compiler.legacy.sysbench.runs import MET, Run


def summaries(runs: Sequence[Run], tables: Sequence[Table], device: str | None) -> Mapping[str, str]:
    mets = {(run.directory, run.test): found for run in runs if (found := of(run, device)) is not None}
    several = len({run.directory for run in runs}) > 1
    found = {_name(run, several): mets[run.directory, run.test].text for run in runs if _key(run) in mets}
    if mets:
        found |= _overviews(runs, mets)
    for table in (*_made(runs), *tables):
        if table not in tables:
            found[table.path.name] = qps.absolute(table.columns, table.rows)
        if len(table.columns) > 1:
            relative = qps.relative_name(table.path.name)
            found |= {relative: qps.relative(table), relative + qps.EDIT: qps.edited(table)}
    return found


def of(run: Run, device: str | None) -> Met | None:
    """None without iostat, vmstat or a rate."""
    per_second = rate(run)
    if run.io is None or run.vm is None or device not in run.io.devices or not per_second or not float(per_second):
        return None
    return met.met(per_second, run.io.devices[device], vmstat.published(run.vm))


def _key(run: Run) -> tuple[str, names.Test]:
    return run.directory, run.test


def _name(run: Run, several: bool) -> str:
    """In a directory of its own, where it was in one."""
    name = MET + run.test.suffix
    return f"{run.directory}/{name}" if several else name


def _overviews(runs: Sequence[Run], mets: Mapping[tuple[str, names.Test], Met]) -> Mapping[str, str]:
    """One for each number of clients."""
    dops = dict.fromkeys(run.test.dop for run in runs if _key(run) in mets)
    found = {}
    for dop in dops:
        tests = dict.fromkeys(run.test for run in sorted(runs, key=_turn) if run.test.dop == dop)
        rows = {
            test: {run.directory: mets[_key(run)] for run in runs if run.test == test and _key(run) in mets}
            for test in tests
        }
        name = summary.NAME if len(dops) == 1 else f"{summary.NAME}.dop{dop}"
        found[name] = summary.summary({MET + test.suffix: each for test, each in rows.items() if each})
    return found


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
            yield Table(Path(f"{qps.ABSOLUTE}.dop{dop}.tsv"), directories, rows)


def _row(test: names.Test, rates: Sequence[str | None]) -> Row:
    return Row(test.row, [None if rate is None else float(rate) for rate in rates], 0)
