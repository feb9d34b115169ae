"""CPU time by function, per operation: names without what differs by compiler, renamed functions folded, changes."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from statistics import fmean, stdev

from stepgrid.collect.counts import OFF_CPU, PROFILE
from stepgrid.host.sampling import RUNNING
from stepgrid.model import units
from stepgrid.model.records import replace
from stepgrid.model.table import group
from stepgrid.plugins import layout
from stepgrid.plugins.collector import CLIENT, FUNCTIONS
from stepgrid.plugins.layout import At, Block, FunctionTime
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Place, Run, StepDetails
from stepgrid.summarize.statistics.confidence_intervals import special

Growth = Mapping[Place, Mapping[str, Mapping[str, float]]]  # by place, source and name
Times = Mapping[str, float]  # function -> microseconds of CPU per operation
Loads = Mapping[int, Times]

TOP = 15  # functions of a table that does not say how many, at most
NOTABLE = 0.01  # of all CPU: a function that takes less has no row, and is not looked for under another name
ALIKE = 2.0  # times as much or as little: a function may have moved there
MOST_FOLDED = 3  # of functions that are folded
MOST_UNRESOLVED = 3  # without symbols, that a note names


def function_times(growth: Growth, run: Run) -> Times:
    """Sum microseconds per operation of a run, by plain names; empty where it was not profiled."""
    counts = growth.get(run.place, {})
    symbols, operations = counts.get(PROFILE), 1.0
    if symbols is None:
        symbols, operations = counts.get(FUNCTIONS, {}), run.metrics.get("operations", 0.0)
    times: dict[str, float] = defaultdict(float)
    for symbol, microseconds in symbols.items() if operations else ():
        times[plain_name(symbol)] += microseconds / operations
    return dict(times)


def wait_times(growth: Growth, run: Run) -> Times:
    """Return microseconds of threads per operation of a run, by what they did."""
    return growth.get(run.place, {}).get(OFF_CPU, {})


def with_functions(block: Block, placed: Mapping[At, Point], details: StepDetails) -> Block:
    """Add CPU by function, and waits: which of them are shown is decided by all points of the block."""
    measured = {at: placed[at] for at, spot in block.spots.items() if not spot.status}
    growth = details.counters({key for point in measured.values() for key in point.places})
    base_at = next((at for at, (_, column) in enumerate(measured) if column == block.base_column), None)
    points = list(measured.values())
    rows, waits = (
        dict(zip(measured, make_rows(points, base_at, growth, block.top), strict=True))
        for make_rows in (function_rows, wait_rows)
    )
    note = unresolved_note(points, growth)
    spots = {at: spot._replace(functions=rows.get(at, {}), waits=waits.get(at, {})) for at, spot in block.spots.items()}
    return replace(block, spots=spots, notes=(*block.notes, *([note] if note else [])))


def function_rows(
    points: Sequence[Point], base_at: int | None, growth: Growth, top: int | None = None
) -> list[dict[str, FunctionTime]]:
    """Make the rows of each point: functions, the largest change first, what is left, their sum, and all CPU."""
    profiles = [_loads(growth, point) for point in points]
    means = [_means(loads.values()) for loads in profiles]
    base_means = means[base_at] if base_at is not None else {}
    folds: dict[str, str] = {}
    for arm_means in means if base_means else ():
        folds |= _folds(base_means, arm_means)
    profiles = [{load: _renamed(times, folds) for load, times in loads.items()} for loads in profiles]
    chosen = _largest(profiles, base_at, top)
    sums = [
        {load: _with_sums(times, chosen, point, load) for load, times in loads.items()}
        for point, loads in zip(points, profiles, strict=True)
    ]
    remainders = layout.OTHER_ROW, layout.UNRESOLVED_ROW, layout.CLIENT_ROW
    return _compare([*chosen, *remainders, layout.SUM_ROW, layout.MEASURED_ROW], sums, base_at)


def wait_rows(
    points: Sequence[Point], base_at: int | None, growth: Growth, top: int | None = None
) -> list[dict[str, FunctionTime]]:
    """Make the rows of each point: what threads waited for, the largest change first, other waits, running, the sum."""
    loads_by_point = [_loads(growth, point, wait_times) for point in points]
    chosen = [name for name in _largest(loads_by_point, base_at, top) if name != RUNNING]
    sums = [{load: _with_other_waits(times, chosen) for load, times in loads.items()} for loads in loads_by_point]
    return _compare([*chosen, layout.OTHER_WAITS_ROW, RUNNING, layout.SUM_ROW], sums, base_at)


def _compare(rows: Sequence[str], sums: Sequence[Loads], base_at: int | None) -> list[dict[str, FunctionTime]]:
    """Leave out rows that are 0 everywhere."""
    names = [name for name in rows if any(times.get(name) for loads in sums for times in loads.values())]
    base_loads = sums[base_at] if base_at is not None else {}
    return [
        {name: _time(name, loads, {} if at == base_at else base_loads) for name in names} if loads else {}
        for at, loads in enumerate(sums)
    ]


def unresolved_note(points: Sequence[Point], growth: Growth) -> str:
    """Say which share has no symbols, and in which files; empty where that is little."""
    means = [mean for point in points if (mean := _means(_loads(growth, point).values()))]
    shares = []
    files: dict[str, float] = defaultdict(float)
    for times in means:
        total = math.fsum(times.values())
        shares.append(math.fsum(time for name, time in times.items() if is_unresolved(name)) / total)
        for name, time in times.items():
            if is_unresolved(name):
                files[name.strip("[]")] += time
    if max(shares, default=0.0) < NOTABLE:
        return ""
    write = units.percent
    range_ = dict.fromkeys(write(round(share, 2)) for share in (min(shares), max(shares)))
    names = sorted(files, key=lambda name: -files[name])[:MOST_UNRESOLVED]
    advice = "builds with `-g`, not stripped, name them"
    return f"{layout.UNRESOLVED_ROW}: {' to '.join(range_)} of the CPU, in {', '.join(names)}: {advice}"


def _loads(growth: Growth, point: Point, times_of: Callable[[Growth, Run], Times] = function_times) -> Loads:
    """Average the runs of each load."""
    runs = group((run.load, times) for run in point.runs if (times := times_of(growth, run)))
    return {load: _means(members) for load, members in sorted(runs.items())}


def _means(profiles: Iterable[Times]) -> dict[str, float]:
    members = list(profiles)
    return {name: fmean(times.get(name, 0.0) for times in members) for name in dict.fromkeys(_names(members))}


def _names(profiles: Iterable[Times]) -> Iterator[str]:
    return (name for times in profiles for name in times)


def _renamed(times: Times, folds: Mapping[str, str]) -> Times:
    sums: dict[str, float] = defaultdict(float)
    for name, time in times.items():
        sums[folds.get(name, name)] += time
    return sums


def _largest(profiles: Sequence[Loads], base_at: int | None, top: int | None) -> list[str]:
    """Choose functions by their change from the base, without one by their time; small ones if a number asks."""
    means = [_means(loads.values()) for loads in profiles]
    base = means[base_at] if base_at is not None and any(means[:base_at] + means[base_at + 1 :]) else {}
    names = [name for name in dict.fromkeys(_names(means)) if name != CLIENT and not is_unresolved(name)]
    change = {name: max(abs(times.get(name, 0.0) - base.get(name, 0.0)) for times in means if times) for name in names}
    ranked = sorted(names, key=lambda name: (-change[name], name))
    least = NOTABLE * max((math.fsum(times.values()) for times in means), default=0.0)
    return [name for name in ranked if change[name] >= least][:TOP] if top is None else ranked[:top]


def _with_sums(times: Times, chosen: Sequence[str], point: Point, load: int) -> Times:
    """Add what is in no row of its own, the client of a server, and the CPU that was measured."""
    client = times.get(CLIENT, _figure(point, "client_cpu_us_per_op", load))
    remainder = [
        time for name, time in times.items() if name not in chosen and name != CLIENT and not is_unresolved(name)
    ]
    unresolved = [time for name, time in times.items() if is_unresolved(name)]
    rows = {**{name: times.get(name, 0.0) for name in chosen}, layout.OTHER_ROW: math.fsum(remainder)}
    rows |= {layout.UNRESOLVED_ROW: math.fsum(unresolved), layout.CLIENT_ROW: client}
    measured = _figure(point, "cpu_us_per_op", load)
    return {**rows, layout.SUM_ROW: math.fsum(rows.values()), layout.MEASURED_ROW: measured}


def _with_other_waits(times: Times, chosen: Sequence[str]) -> Times:
    waits = {name: times.get(name, 0.0) for name in (*chosen, RUNNING)}
    total = math.fsum(times.values())
    return {**waits, layout.OTHER_WAITS_ROW: total - math.fsum(waits.values()), layout.SUM_ROW: total}


def _figure(point: Point, metric: str, load: int) -> float:
    runs = point.values(metric).get(load)
    return fmean(runs) if runs else 0.0


def _time(name: str, loads: Loads, base: Loads) -> FunctionTime:
    """Average over the loads; a change is of the loads that both have, with Student's t of its differences."""
    mean = fmean(times.get(name, 0.0) for times in loads.values())
    changes = [loads[load].get(name, 0.0) - base[load].get(name, 0.0) for load in loads.keys() & base.keys()]
    if not changes:
        return FunctionTime(mean)
    count = len(changes)
    reach = special("stdtrit", count - 1, 0.975) * stdev(changes) / math.sqrt(count) if count > 1 else None
    return FunctionTime(mean, fmean(changes), reach)


# Names: compilers differ in parameters, templates and clones of one function

_CLONE = re.compile(
    r"(?<!\s)\s*+\[(?:clone|abi:)[^]]*\]|(?:\.(?:constprop|isra|part|cold|lto_priv|llvm)(?:\.\d+)*)+$|(?<!\s)\s*+\(\.[^)]*\)"
)
_OPERATOR = re.compile(r"\boperator\s?(?:\(\)|<<=?|>>=?|<=>|<=|>=|->\*?|<|>)")
_ENCLOSED = re.compile(r"<[^<>()]*>|\([^<>()]*\)")
_SHIELD = str.maketrans("()<>", "\x01\x02\x03\x04")
_UNSHIELD = str.maketrans("\x01\x02\x03\x04", "()<>")


@cache
def plain_name(symbol: str) -> str:
    """void rocksdb::Get<int>(int) const [clone .isra.0] -> rocksdb::Get"""
    if is_unresolved(symbol):
        return symbol
    name = _CLONE.sub("", symbol).replace("(anonymous namespace)", "{anonymous}")
    if name.startswith("<"):  # Rust: the type is a part of the name
        return name
    name = _OPERATOR.sub(lambda match: match[0].translate(_SHIELD), name)
    previous = ""
    while previous != name:
        previous, name = name, _ENCLOSED.sub("", name)
    name = re.sub(r"(?: const| volatile| &&?)+$", "", name)
    if "operator " not in name:
        name = name.rpartition(" ")[2]
    return name.translate(_UNSHIELD) or symbol


def is_unresolved(name: str) -> bool:
    """Tell what has no symbol: it is known by its file."""
    return name.startswith("[") and name.endswith("]") and name != CLIENT


def _folds(base: Times, arm: Times) -> dict[str, str]:
    """Fold functions of a class or namespace that only one arm has with those that took as much more or less.

    There a function has another name, or is inlined into its callers."""
    least = NOTABLE * max(math.fsum(base.values()), math.fsum(arm.values()))
    by_module: dict[str, dict[str, float]] = defaultdict(dict)
    for name in base.keys() | arm.keys():
        module, _, function = name.rpartition("::")
        if module and function:
            by_module[module][name] = arm.get(name, 0.0) - base.get(name, 0.0)
    folds: dict[str, str] = {}
    for module, changes in by_module.items():
        for name, change in changes.items():
            if (name in base and name in arm) or abs(change) < least:
                continue
            partners = [other for other, moved in changes.items() if moved * change < 0 and abs(moved) >= least / 10]
            moved = abs(math.fsum(changes[other] for other in partners))
            if abs(change) / ALIKE <= moved <= abs(change) * ALIKE:
                members = sorted({name, *partners}, key=lambda member: (-abs(changes[member]), member))
                functions = [member.rpartition("::")[2] for member in members]
                names = ", ".join(functions[:MOST_FOLDED]) + (", …" if len(functions) > MOST_FOLDED else "")
                folds |= dict.fromkeys(members, f"{module}::{{{names}}}")  # rocksdb::BlockIter::{Next, NextImpl}
    return folds
