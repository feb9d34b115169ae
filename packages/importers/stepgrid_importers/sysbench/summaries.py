"""The published summary files: sb.met of each run, o.met of all, qps.abs of the runs, qps.rel of each table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid_importers.shared import awk, iostat, vmstat
from stepgrid_importers.shared.iostat import KIB, Sample
from stepgrid_importers.shared.vmstat import VmstatMeans
from stepgrid_importers.sysbench import names, tables
from stepgrid_importers.sysbench.rates import THOUSAND, definition, rate, rows_per_s, scanned
from stepgrid_importers.sysbench.runs import MET, Run, published
from stepgrid_importers.sysbench.tables import Row, Section, Table
from stepgrid_published.importer import RecomputedFigure

Key = tuple[str, names.Test]


def summaries(runs: Sequence[Run], listed: Sequence[Table], device: str | None) -> Mapping[str, str]:
    mets = {_key(run): found for run in runs if (found := summarized(run, device)) is not None}
    several = len({run.directory for run in runs}) > 1
    files = {_name(run, several): mets[_key(run)].text for run in runs if _key(run) in mets and not run.cells}
    files |= _overviews(runs, mets)
    made = list(_made(runs))
    files |= {table.path.name: tables.absolute(table) for table in made}
    for table in (*made, *listed):
        if len(table.columns) > 1:
            name = tables.RELATIVE + table.path.name.removeprefix(tables.ABSOLUTE)
            files |= {name: tables.relative(table), name + tables.EDIT: tables.edited(table)}
    return files


def summarized(run: Run, device: str | None) -> Met | None:
    """The published one where iostat or vmstat is not there; None without either, or without a rate."""
    if run.cells:
        return of_cells(run.cells)
    per_second = rate(run)
    samples = run.io.devices.get(device or "") if run.io else None
    if not samples or run.vm is None or not per_second or not float(per_second):
        return None
    return met(per_second, samples, vmstat.published(run.vm))


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
    called = {dop: OVERVIEW if len(dops) == 1 else f"{OVERVIEW}.dop{dop}" for dop in dops}
    return {name: _overview([run for run in counted if run.test.dop == dop], mets) for dop, name in called.items()}


def _overview(runs: Sequence[Run], mets: Mapping[Key, Met]) -> str:
    """Builds by their directories' names: the first is the base."""
    rows: dict[str, dict[str, Met]] = {MET + run.test.suffix: {} for run in runs}
    for run in sorted(runs, key=lambda run: run.directory):
        rows[MET + run.test.suffix][run.directory] = mets[_key(run)]
    return overview(rows)


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
            yield Table(Path(f"{tables.ABSOLUTE}.dop{dop}.tsv"), directories, [Section("", rows)])


def _row(test: names.Test, rates: Sequence[str | None]) -> Row:
    return Row(test.row, [None if rate is None else float(rate) for rate in rates], 0)


# sb.met: what iostat and vmstat counted, divided by the rate of operations

TITLE = "iostat, vmstat normalized by operation rate"
DISK = ("samp", "r/s", "rMB/s", "w/s", "wMB/s", "r/o", "rKB/o", "wKB/o", "o/s")
HOST = ("samp", "cs/s", "cpu/s", "cs/o", "cpu/o")


class Met(Struct, frozen=True):
    disk: Sequence[str]
    host: Sequence[str]

    @property
    def text(self) -> str:
        lines = [TITLE, *map("\t".join, (DISK, self.disk)), "", *map("\t".join, (HOST, self.host))]
        return "\n".join(lines) + "\n"

    def __getitem__(self, name: str) -> str:
        """A figure as it stands."""
        return dict(zip((*DISK, *HOST[1:]), (*self.disk, *self.host[1:]), strict=True))[name]


def of_cells(cells: Mapping[str, str]) -> Met | None:
    """A published one, without the numbers of samples: the two have one head."""
    if not {*DISK[1:], *HOST[1:]} <= cells.keys():
        return None
    return Met(["", *(cells[name] for name in DISK[1:])], ["", *(cells[name] for name in HOST[1:])])


def met(rate: str, samples: Sequence[Sample], means: VmstatMeans) -> Met:
    """`rate`: operations per second, as it is printed."""
    return Met((*disk(samples), *_per_operation(samples, float(rate)), rate), host(means, float(rate)))


def disk(samples: Sequence[Sample]) -> tuple[str, ...]:
    """The columns that do not depend on the rate."""
    reads, read = iostat.mean(samples, "r/s"), iostat.mean_kib(samples, "r")
    writes, written = iostat.mean(samples, "w/s"), iostat.mean_kib(samples, "w")
    return (str(len(samples)), f"{reads:.1f}", f"{read / KIB:.1f}", f"{writes:.1f}", f"{written / KIB:.1f}")


def _per_operation(samples: Sequence[Sample], rate: float) -> tuple[str, ...]:
    means = (iostat.mean(samples, "r/s"), iostat.mean_kib(samples, "r"), iostat.mean_kib(samples, "w"))
    return tuple(f"{mean / rate:.3f}" for mean in means)


def host(means: VmstatMeans, rate: float) -> tuple[str, ...]:
    return (
        str(means.samples),
        f"{means.switches:.0f}",
        f"{means.busy:.1f}",
        f"{means.switches / rate:.3f}",
        f"{means.busy / rate:.6f}",
    )


# o.met: the per-operation figures of each test, a row per build, and the same relative to the first

OVERVIEW = "o.met"
_FIGURES = ("cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "o/s")
_HEAD = "cpu/o\t\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms"


def overview(tests: Mapping[str, Mapping[str, Met]]) -> str:
    """File name -> directory -> figures; each in the order that it is to have."""
    return "".join(f"{line}\n" for name, found in tests.items() for line in _block(name, found))


def _block(name: str, found: Mapping[str, Met]) -> Iterator[str]:
    yield from (name, "--- absolute", _HEAD)
    yield from (_absolute(figures, directory) for directory, figures in found.items())
    yield "--- relative to first result"
    first, *others = found.items()
    yield from (relative(values(figures), values(first[1]), directory) for directory, figures in others)
    yield ""


def values(figures: Met) -> list[float]:
    return [float(figures[name]) for name in _FIGURES]


def relative(of: Sequence[float], base: Sequence[float], name: str) -> str:
    cpu, *others = (awk.ratio(*pair) for pair in zip(of, base, strict=True))
    return "\t".join((cpu, "", *others, name))


def _absolute(figures: Met, directory: str) -> str:
    cpu, switches = figures["cpu/o"], figures["cs/o"]
    reads = [f"{float(figures[name]):.6g}" for name in ("r/o", "rKB/o", "wKB/o")]
    return "\t".join((cpu, switches, *reads, f"{float(figures['o/s']):.0f}", directory))


# Which of iostat's devices the database was on: the outputs do not say

_NEVER = ("loop", "ram", "zram", "sr", "fd")
_STACKED = ("md", "dm-", "bcache")  # on top of others, which list the same requests once more


def device(runs: Iterable[Run]) -> tuple[str, str | None] | None:
    """The device of all runs, and a warning where it was guessed; None where none is told of.

    A published summary that lies beside tells by its figures. Otherwise it is the busiest, of those that stand on
    others if there are any.
    """
    measured = [run for run in runs if run.io is not None and run.io.devices]
    known = set.intersection(*map(_names, measured)) if measured else set()
    agreeing = [name for name in sorted(known) if all(_agrees(run, name) for run in measured if published(run))]
    if len(agreeing) == 1 or (agreeing and any(map(published, measured)) and _alike(measured, agreeing)):
        return agreeing[0], None
    possible = _possible(agreeing or sorted(known))
    if len(possible) < 2:
        return (possible[0], None) if possible else None
    chosen = max(possible, key=_bytes(measured).__getitem__)
    return chosen, f"device {chosen}: taken for the database's as the busiest of {', '.join(possible)}"


def _names(run: Run) -> set[str]:
    return set(run.io.devices) if run.io else set()


def _samples(run: Run, name: str) -> Sequence[Sample]:
    return run.io.devices[name] if run.io else ()


def _agrees(run: Run, name: str) -> bool:
    return tuple(published(run)[:5]) == disk(_samples(run, name))


def _alike(runs: Sequence[Run], devices: Sequence[str]) -> bool:
    """Their figures are the same in all runs."""
    return all(len({disk(_samples(run, name)) for name in devices}) == 1 for run in runs)


def _possible(devices: Sequence[str]) -> Sequence[str]:
    real = [name for name in devices if not name.startswith(_NEVER)]
    return [name for name in real if name.startswith(_STACKED)] or real


def _bytes(runs: Iterable[Run]) -> Counter[str]:
    found: Counter[str] = Counter()
    for run in runs:
        for name in _names(run):
            samples = _samples(run, name)
            found[name] += int(iostat.mean_kib(samples, "r") + iostat.mean_kib(samples, "w"))
    return found


# Figures of sb.met where our rule is another: what vmstat counted, and a scan's rate

BANNERS, SCANS = "vmstat's banner lines", "The three rates of a scan"


def differences(runs: Sequence[Run], device: str | None) -> Iterator[RecomputedFigure]:
    for run in runs:
        yield from _vmstat(run, device)
        yield from _scan(run)


def _vmstat(run: Run, device: str | None) -> Iterator[RecomputedFigure]:
    legacy = summarized(run, device)
    per_second = rate(run)
    if legacy is None or run.vm is None or per_second is None:
        return
    clean = dict(zip(HOST, host(vmstat.clean(run.vm), float(per_second)), strict=True))
    for name in HOST[1:]:
        yield RecomputedFigure(MET + run.test.suffix, run.directory, name, legacy[name], clean[name], BANNERS)


def _scan(run: Run) -> Iterator[RecomputedFigure]:
    found, per_second = scanned(run), rate(run)
    if found is None or per_second is None:
        return
    figure = f"scan, thousands of rows/s, {definition(run, found)}"
    clean = f"{rows_per_s(found) / THOUSAND:.0f}"
    yield RecomputedFigure(MET + run.test.suffix, run.directory, figure, per_second, clean, SCANS)
