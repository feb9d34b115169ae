"""Conditions under which two points were measured, and what a reader must know of their ratio where these differ.

A rule is a row of a table: settings of the host, what a step began with, and runs that are not what they should be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from msgspec import Struct

from stepgrid.collect.series import NOT_STEADY
from stepgrid.host.facts import pseudonym
from stepgrid.host.speed import SPEEDS
from stepgrid.model import figures, units
from stepgrid.model.metrics import CLIENT_CPU, SERVER_CPU, STEADY_QPS, follows_host
from stepgrid.model.table import group
from stepgrid.model.units import counted, duration, percent
from stepgrid.plugins.driver import TARGET
from stepgrid.plugins.durability import differing
from stepgrid.plugins.hit_rate import EXPECTED, SIGMAS, WARNING
from stepgrid.plugins.metrics import unit
from stepgrid.plugins.registry import find_driver
from stepgrid.plugins.work import SameWork, WorkFigure
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Place, Run, Tables

OTHER_HOST = "measured on different hosts"
OTHER_DURABILITY = "unequal durability"
OTHER_WORK = "did other work"
OWN_RATES = "each arm was asked for a share of its own maximum"
SETTINGS = {name: name for name in ("kernel", "microcode", "governor", "turbo")}
SETTINGS |= {"smt": "SMT", "thp": "THP", "client_tls": "TLS of clients"}
FAR_APART = timedelta(days=7).total_seconds()  # where the spec does not say `compare_within`
SPACINGS = 2  # a block is as long as its loads lie apart; a random order makes that up to twice as long
OPERATIONS, SAME_WORK = "operations", 0.01  # of steps whose totals are those of one and the same work
LEAST_GAP = 600.0  # seconds, however close the loads of an experiment lie

_HOST = "hostname"  # reports say that it differs, not what it is
_CLIENT = "client_hostname"  # likewise, of the machine of clients that ran on another one
_HARDWARE = {"cpu": "CPU", "cores": "cores", "architecture": "architecture"}  # these and the name identify a host
_NO_FACTS: Mapping[str, str] = {}


def are_most(disturbed: Collection[int], loads: Collection[int]) -> bool:
    """Tell whether so many loads were disturbed that their figures decide nothing."""
    return bool(disturbed) and 2 * len(disturbed) >= len(loads)


class Conditions(Struct, frozen=True, dict=True):  # no slots: cached_property needs a dict
    tables: Tables
    within: float | None = None  # seconds of `compare_within`
    machines: Mapping[str, str] = {}  # by stage, where the plan has several
    across_hosts: bool = False  # two sets of results are compared, wherever they are from and whatever they record
    declared_work: Callable[[Place], object] = lambda _: None  # what the spec has a step, and those before it, do
    # which failures a step's writes survive; nothing of one that writes nothing, None of one of which it is not known
    durability: Callable[[Place], Mapping[str, str] | None] = lambda _: None
    allows_durability: bool = False  # the spec compares arms that differ in this
    steady: Collection[Place] = frozenset()  # steps with `until: steady`

    def refusal(self, point: Point, base: Point) -> str | None:
        """Say why two points get no verdict: other work, another host or durability, which is not what is compared."""
        works = [*_figures_apart(point, base), *_databases_apart(self._start(point), self._start(base))]
        if works and self.declared_work(point.places[0]) == self.declared_work(base.places[0]):
            return f"{OTHER_WORK}: {'; '.join(works)}"
        differences = [] if self._compares_hosts(point, base) else self._host_differences(point, base)
        parts = "; ".join(filter(None, differences))
        if differences:
            return f"{OTHER_HOST}{f': {parts}' if parts else ''}"
        if self._is_to_be_steady(point, base) and (counts := [*_counts(point, base, [_UNSTEADY])]):
            return counts[0]
        return None if self.allows_durability else self._unequal_durability(point, base)

    def _is_to_be_steady(self, *points: Point) -> bool:
        return any(run.place in self.steady for point in points for run in point.runs)

    def _unequal_durability(self, point: Point, base: Point) -> str | None:
        """Return `unequal durability: commit sync / os`, the base's first."""
        classes, base_classes = (classes or {} for classes in self._durability(point, base))
        parts = [f"{name} {base_classes[name]} / {classes[name]}" for name in differing(base_classes, classes)]
        return f"{OTHER_DURABILITY}: {'; '.join(parts)}" if parts else None

    def _unknown_durability(self, point: Point, base: Point) -> Iterator[str]:
        """Say that one of two sets of results does not tell the durability of a step that writes."""
        classes, base_classes = self._durability(point, base)
        if not self.across_hosts or (classes is None) == (base_classes is None):
            return
        sides = [", ".join(map(" ".join, side.items())) if side else "unknown" for side in (base_classes, classes)]
        if sides != ["unknown", "unknown"]:
            yield f"durability {' / '.join(sides)}"

    def _durability(self, *points: Point) -> list[Mapping[str, str] | None]:
        """Prefer what servers ran with to what was planned, where the step writes."""
        runs, running = [point.runs[0] for point in points], self.tables.facts.get("durability", {})
        planned = [self.durability(run.place) for run in runs]
        if not any(planned):
            return planned
        names = (f"{run.place[0]}/{run.attempt}" for run in runs)
        pairs = zip(names, planned, strict=True)
        return [classes if classes == {} else running.get(name, classes) for name, classes in pairs]

    def marks(self, point: Point, base: Point, shares_loads: bool) -> tuple[str, ...]:
        """List what to know of a ratio. Arms that share their loads should begin from one and the same database."""
        missed = {"": missed_rate(point), " of the base": missed_rate(base)}
        return (
            *self._settings(point, base),
            *filter(None, [self._unequal_durability(point, base) if self.allows_durability else None]),
            *self._unknown_durability(point, base),
            *self._gap(point, base),
            *_counts(point, base, _COUNTED[self._is_to_be_steady(point, base) :]),  # the first one refuses those
            *(f"rate missed{whose}: {text}" for whose, text in missed.items() if text),
            *_start_differences(self._start(point), self._start(base), shares_loads),
        )

    # Others who used the host

    def disturbed_loads(self, points: Iterable[Point]) -> set[int]:
        """List the loads before a stage of which the host was not quiet."""
        noise = self.tables.facts.get("noise", {})
        runs = (run for point in points for run in point.runs if run.attempt and run.metrics)
        return {run.load for run in runs if "warning" in noise.get(f"{run.place[0]}/{run.attempt}", _NO_FACTS)}

    def disturbance(self, metric: str, points: Sequence[Point]) -> str:
        """Say that most loads of these points were disturbed; empty where not, or where the metric shows nothing of it.

        What others take differs by arm, so no interval covers it.
        """
        loads = set.intersection(*(set(point.values(metric)) for point in points)) if points else set()
        disturbed = loads & self.disturbed_loads(points)
        work = [spread[0] for point in points if (spread := point.spread(OPERATIONS))]
        is_same_work = max(work, default=1.0) <= (1 + SAME_WORK) * min(work, default=1.0)
        if not are_most(disturbed, loads):
            return ""
        if not follows_host(metric, self.tables.units.get(metric) or unit(metric), is_same_work):
            return ""
        return f"host busy: {len(disturbed)} of {counted(len(loads), 'load')} disturbed"

    # The host and its settings

    def _compares_hosts(self, point: Point, base: Point) -> bool:
        sides = [{self.machines.get(run.place[0]) for run in side.runs} for side in (point, base)]
        return self.across_hosts or sides[0] != sides[1]

    def _settings(self, point: Point, base: Point) -> Iterator[str]:
        """Yield `kernel 6.1.0 / 6.18.0`, the base's first."""
        if self._compares_hosts(point, base) and self._host_differences(point, base):
            yield "another host"
            yield from self._speeds(point, base)
        for name, word in SETTINGS.items():
            if difference := self._difference(base.runs, point.runs, name):
                yield f"{word} {difference}"

    def _speeds(self, point: Point, base: Point) -> Iterator[str]:
        """Yield `fsync 95 / 410 µs`, the base's first: medians of the runs, each measured on the day of its run."""
        for name, (word, unit_name) in SPEEDS.items():
            sides = [[float(value) for value in self._values(side.runs, name)] for side in (base, point)]
            if all(sides):
                yield f"{word} {' / '.join(f'{median(side):.4g}' for side in sides)} {unit_name}"

    def _host_differences(self, point: Point, base: Point) -> list[str]:
        """List the facts that differ. A host is a block: each load may have a host of its own."""
        sides = [[*base.runs], [*point.runs]]
        loads = {run.load for run in base.runs} & {run.load for run in point.runs}
        blocks = [[[run for run in runs if run.load == load] for runs in sides] for load in loads] or [sides]
        differences: dict[str, str] = {}
        for before, after in blocks:
            for name, word in ((_HOST, ""), (_CLIENT, "clients"), *_HARDWARE.items()):
                if difference := self._difference(before, after, name):
                    differences.setdefault(name, f"{word} {difference}" if word else "")
        return list(differences.values())

    def _difference(self, before: Iterable[Run], after: Iterable[Run], name: str) -> str:
        sides = [dict.fromkeys(self._values(runs, name)) for runs in (before, after)]
        names = {**sides[0], **sides[1]}
        return " / ".join(names) if all(sides) and len(names) > 1 else ""

    def _values(self, runs: Iterable[Run], name: str) -> Iterator[str]:
        all_facts = (self._facts_by_result.get(f"{run.place[0]}/{run.attempt}", {}) for run in runs)
        return (facts[name] for facts in all_facts if name in facts)

    @cached_property
    def _facts_by_result(self) -> Mapping[str, Mapping[str, str]]:
        """Name, hardware and settings of each result's host."""
        by_result = {}
        for subject, facts in self.tables.facts.get("host", {}).items():
            hardware = json.loads(facts.get("hardware", "{}"))
            names = {name: pseudonym(facts[name]) for name in (_HOST, _CLIENT) if name in facts}  # as exports have them
            names.setdefault(_CLIENT, "here")
            parts = {name: str(hardware[name]) for name in _HARDWARE if name in hardware}
            by_result[subject] = {**facts, **names, **parts}
        return by_result

    # Time between the runs of one load

    def _gap(self, point: Point, base: Point) -> Iterator[str]:
        """Compare the largest gap with the spec's limit, else with the distance between loads."""
        gap = longest_gap(point, base)
        is_one_host = len({*self._values((*point.runs, *base.runs), _HOST)}) <= 1
        limit = FAR_APART if self.within is None else self.within
        if self.within is None and is_one_host:
            limit = min(FAR_APART, max(SPACINGS * max(_spacing(point.runs), _spacing(base.runs)), LEAST_GAP))
        if gap is not None and gap > limit:
            yield f"measured {duration(gap)} from the base"

    # What a step began with

    def _start(self, point: Point) -> _Start:
        if point.places not in self._starts:
            before_stage, before_step = (self.tables.facts.get(scope, {}) for scope in ("start", "step start"))
            steps = dict.fromkeys((f"{run.place[0]}/{run.attempt}", run.place[1]) for run in point.runs)
            states = ((result, before_step.get(f"{result}/{position}")) for result, position in steps)
            self._starts[point.places] = _start([
                (before_stage.get(result, _NO_FACTS), json.loads(facts["state"]) if facts else {})
                for result, facts in states
            ])  # fmt: skip
        return self._starts[point.places]

    @cached_property
    def _starts(self) -> dict[tuple[Place, ...], _Start]:
        return {}


def longest_gap(point: Point, base: Point) -> float | None:
    """Seconds between the runs of one load, the largest."""
    times = {(run.load, run.run): run.started for run in base.runs if run.started}
    starts = ((run.started, times.get((run.load, run.run))) for run in point.runs)
    return max((abs((arm - other).total_seconds()) for arm, other in starts if arm and other), default=None)


def _spacing(runs: Iterable[Run]) -> float:
    """Seconds from the start of one load to that of the next, the median; with one load a week."""
    starts: dict[int, datetime] = {}
    for run in runs:
        if run.started:
            starts[run.load] = min(run.started, starts.get(run.load, run.started))
    ordered = sorted(starts.values())
    return median((after - before).total_seconds() for before, after in pairwise(ordered)) if ordered[1:] else FAR_APART


# Work that was done


def _figures_apart(point: Point, base: Point) -> Iterator[str]:
    kind = point.runs[0].kind
    plugin = find_driver(kind)
    for figure in plugin.work_figures if isinstance(plugin, SameWork) else ():
        arm, against = (_work(side, figure) for side in (point, base))
        if arm is None or against is None:
            continue
        variance = 0.0
        for side, share in ((point, arm), (base, against)):
            draws = side.spread(figure.draws) if figure.draws else None
            variance += max(0.0, share * (100 - share)) / draws[0] if draws and draws[0] else 0.0
        if abs(arm - against) > figure.limit + SIGMAS * variance**0.5:
            yield f"{figure.text.format(arm)}, {figure.text.format(against)} by the base"


def _work(point: Point, figure: WorkFigure) -> float | None:
    spread, total = point.spread(figure.metric), point.spread(figure.of) if figure.of else None
    if spread is None or (figure.of and total is None):
        return None
    if total is None:
        return spread[0]
    return 100 * spread[0] / total[0] if total[0] else 100.0 * bool(spread[0])


# what a database began with -> by how many times it may differ by its options alone, from which amount on
LEAST_ROWS = 1_000.0
_DATABASES = {"rows": (3.0, LEAST_ROWS), "tables": (10.0, 2.0**24), "bytes": (10.0, 2.0**24)}


def _databases_apart(arm: _Start, base: _Start) -> Iterator[str]:
    for name, (times, least) in _DATABASES.items():
        sizes = [side.values[name] for side in (arm, base) if name in side.values]
        if len(sizes) == 2 and max(sizes) > max(times * min(sizes), least):
            texts = [f"{size:,.0f} rows" if name == "rows" else units.size(size) for size in sizes]
            yield f"began with a database of {texts[0]}, the base with {texts[1]}"
            return
    for name in arm.rows.keys() & base.rows.keys():  # estimates, and tables of what was done grow with its speed
        rows = arm.rows[name], base.rows[name]
        if min(rows) == 0 and max(rows) >= LEAST_ROWS:
            yield f"began with {rows[0]:,.0f} rows in {name}, the base with {rows[1]:,.0f}"


# Runs that are not what they should be, and in how many of both sides


def has_missed_lookups(run: Run) -> bool:
    """Decide if it found fewer keys than the steps before it wrote."""
    return EXPECTED in run.metrics and any(WARNING in text for text in run.warnings)


def has_heavier_client(run: Run) -> bool:
    client, server = run.metrics.get(CLIENT_CPU), run.metrics.get(SERVER_CPU)
    return client is not None and server is not None and client > server


# sentence, which runs, and of which runs it is known
_Rule = tuple[str, Callable[[Run], bool], Callable[[Run], bool]]
# of steps that are to become steady: a run too short to tell is one that did not
_UNSTEADY: _Rule = (NOT_STEADY, lambda run: STEADY_QPS not in run.metrics, lambda run: bool(run.metrics))
_COUNTED: tuple[_Rule, ...] = (
    # no steady part of it has a start: its figure is of a state on its way
    (NOT_STEADY, lambda run: "steady_from_s" not in run.metrics, lambda run: "steady_change_pct" in run.metrics),
    ("fewer keys found than expected", has_missed_lookups, lambda _: True),
    ("the client used more CPU than its server", has_heavier_client, lambda _: True),
)


def _counts(point: Point, base: Point, rules: Iterable[_Rule]) -> Iterator[str]:
    for text, is_met, is_known in rules:
        arm, against = ([is_met(run) for run in side.runs if is_known(run)] for side in (point, base))
        if not any(arm) and not any(against):
            continue
        counts = [f"{sum(side)} of {len(side)}" for side in (arm, against)]
        if not against:
            yield f"{text} in {counts[0]} runs (those of the base are too short to tell)"
        elif not arm:
            yield f"{text} in {counts[1]} runs of the base (those of this arm are too short to tell)"
        else:
            yield f"{text} in {counts[0]} runs, in {counts[1]} of the base"


def missed_rate(point: Point) -> str:
    """Return `1,113 of 2,000 rows/s`, means of the loads, or how many missed it; nothing where clients kept up."""
    targets = dict.fromkeys(name for run in point.runs for name in run.metrics if name.startswith(TARGET))
    for target in targets:
        metric = target.removeprefix(TARGET)
        wanted, reached = point.spread(target), point.spread(metric)
        if wanted and reached and not figures.is_sustained(reached[0], wanted[0]):
            return f"{units.rate(reached[0])} of {units.rate(wanted[0])} {unit(metric)}"
    missed = {run.load for run in point.missed_runs}
    return f"in {len(missed)} of {units.counted(point.loads[0], 'load')}" if missed else ""


# What a step began with: files and page cache before its stage, all else before the step itself

Level = tuple[float, float]  # files and bytes
Limit = Callable[[float, float], bool]
L0, L0_FILES, MOVED = "L0", 4, 0.10  # of a tree: so many files in L0, which each read looks into, or bytes elsewhere


class _Start(Struct, frozen=True):
    values: Mapping[str, float]  # by condition, medians of the runs
    rows: Mapping[str, float]  # by table
    levels: Mapping[str, Level]  # of an LSM tree
    texts: Mapping[str, str]


def _relative(limit: float) -> Limit:
    return lambda arm, base: abs(arm - base) > limit * max(arm, base)


def _absolute(limit: float) -> Limit:
    return lambda arm, base: abs(arm - base) >= limit


_Rules = Mapping[str, Mapping[str, Limit]]  # sentence -> conditions with their limits
# of arms that share their loads: those of others may differ by what is compared
_SHARED: _Rules = {
    "began from {arm[database]}, the base from {base[database]}": {"bytes": _relative(0.02), "files": _relative(0.02)},
    "began with {arm[tables]} in tables and indexes{arm[rows]}, the base with {base[tables]}{base[rows alone]}": {
        "tables": _relative(0.02),
        "bytes per row": _relative(0.10),
    },
}
_STARTS: _Rules = {
    "began with {arm[page cache]} of its database in the page cache, the base with {base[page cache]}": {
        "page cache": _absolute(0.10)
    },
    "began with a server's cache that held {arm[server cache]} of what fits, the base with {base[server cache]}": {
        "server cache": _absolute(0.10)
    },
    "began with {arm[history]} transactions in the history list, the base with {base[history]}": {
        "history": lambda arm, base: abs(arm - base) >= max(1000.0, max(arm, base) / 2)  # an idle server may have 1,000
    },
    "began with {arm[dead rows]} dead rows beside {arm[live rows]} live ones, "
    "the base with {base[dead rows]} beside {base[live rows]}": {"dead share": _absolute(0.02)},
    "a vacuum was at work or due as {arm[vacuum]} runs began, as {base[vacuum]} of the base": {
        "vacuum": _absolute(0.5)
    },
}


def _start_differences(arm: _Start, base: _Start, shares_loads: bool) -> Iterator[str]:
    for sentence, limits in ({**_SHARED, **_STARTS} if shares_loads else _STARTS).items():
        names = arm.values.keys() & base.values.keys() & limits.keys()
        if any(limits[name](arm.values[name], base.values[name]) for name in names):
            yield sentence.format(arm=arm.texts, base=base.texts)
    if shares_loads and _trees_apart(arm.levels, base.levels):
        yield f"began with {_tree_text(arm.levels)}, the base with {_tree_text(base.levels)}"


def _trees_apart(arm: Mapping[str, Level], base: Mapping[str, Level]) -> bool:
    if not arm or not base:
        return False
    empty = 0.0, 0.0
    moved = sum(abs(arm.get(name, empty)[1] - base.get(name, empty)[1]) for name in {*arm, *base}) / 2
    total = max(sum(size for _, size in tree.values()) for tree in (arm, base))
    return abs(arm.get(L0, empty)[0] - base.get(L0, empty)[0]) >= L0_FILES or moved > MOVED * total


def _start(runs: Sequence[tuple[Mapping[str, str], Mapping[str, Any]]]) -> _Start:
    """Take medians; `runs`: facts of the files, and what a server or the engine's files said before the step."""
    values = group(condition for files, state in runs for condition in _conditions(files, state))
    medians = {name: fmean(numbers) if name == "vacuum" else median(numbers) for name, numbers in values.items()}
    tables = group(pair for _, state in runs for pair in state.get(figures.TABLE_ROWS, {}).items())
    trees = [state[figures.TREE_LEVELS] for _, state in runs if isinstance(state.get(figures.TREE_LEVELS), Mapping)]
    names = sorted({name for tree in trees for name in tree}, key=lambda name: int(name[1:]))
    columns = {name: zip(*(tree.get(name, (0.0, 0.0)) for tree in trees), strict=True) for name in names}
    levels = {name: (median(files), median(sizes)) for name, (files, sizes) in columns.items()}
    texts = {name: f"{value:,.0f}" for name, value in medians.items()}
    texts |= {name: percent(medians[name]) for name in ("page cache", "server cache") if name in medians}
    in_files = f" in {counted(round(medians['files']), 'file')}" if "files" in medians else ""
    rows, vacuums = texts.get("rows"), values.get("vacuum", ())
    texts |= {
        "database": f"{units.size(medians.get('bytes', 0.0))}{in_files}",
        "tables": units.size(medians.get("tables", 0.0)),
        "rows": f" for {rows} rows" if rows else "",
        "rows alone": f" for {rows}" if rows else "",
        "live rows": rows or "",
        "vacuum": f"{round(sum(vacuums))} of {len(vacuums)}",
    }
    return _Start(medians, {name: median(rows) for name, rows in tables.items()}, levels, texts)


def _conditions(files: Mapping[str, str], state: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    size = float(files.get("bytes", 0))
    yield from ((name, float(files[name])) for name in ("bytes", "files") if "bytes" in files and name in files)
    if "resident" in files and size:  # of an empty database nothing can be cached
        yield "page cache", float(files["resident"]) / size
    tables = state[figures.DATA_BYTES] + state.get(figures.INDEX_BYTES, 0.0) if figures.DATA_BYTES in state else 0.0
    rows, fitting = state.get(figures.LIVE_ROWS, 0.0), min(state.get(figures.CACHE_BYTES, 0.0), tables)
    if tables:
        yield "tables", tables
    if fitting and figures.CACHED_BYTES in state:  # a cache larger than the database is full with all of it
        yield "server cache", min(1.0, state[figures.CACHED_BYTES] / fitting)
    if figures.LIVE_ROWS in state:
        yield "rows", rows
    if rows and tables:
        yield "bytes per row", tables / rows
    if rows and figures.DEAD_ROWS in state:
        yield "dead rows", state[figures.DEAD_ROWS]
        yield "dead share", state[figures.DEAD_ROWS] / (state[figures.DEAD_ROWS] + rows)
    if figures.HISTORY_LENGTH in state:
        yield "history", state[figures.HISTORY_LENGTH]
    if figures.VACUUMS in state:
        yield "vacuum", float(state[figures.VACUUMS] + state.get(figures.TABLES_TO_VACUUM, 0.0) > 0)


def _tree_text(levels: Mapping[str, Level]) -> str:
    """4 files of 96 MiB in L0 and 9 of 230 MiB in L1"""
    parts = [f"{round(files)} of {units.size(size)} in {name}" for name, (files, size) in levels.items() if files]
    number, _, text = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))).partition(" ")
    return f"{counted(int(number), 'file')} {text}" if parts else "no files"
