"""Series: a figure of a step over all releases and days of a store or of files, and where its level changes."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from stepgrid.collect.query import open_tables, table_faults
from stepgrid.errors import USAGE, StepgridError
from stepgrid.model import units
from stepgrid.model.metrics import QPS, follows_host
from stepgrid.model.plan import ALPHA, BUILD, SMALLEST_EFFECT, Plan, encode
from stepgrid.model.records import Json, parse_record, replace
from stepgrid.model.result_schema import axis_columns
from stepgrid.model.status import Status
from stepgrid.plan import plan_file
from stepgrid.plan.plan_file import DAMAGED
from stepgrid.store.attempts import attempt_record
from stepgrid.store.plans import StoredPlan, stored_plans
from stepgrid.store.store import Store
from stepgrid.summarize.comparisons.comparison import ComparedMetric, Conclusion
from stepgrid.summarize.comparisons.conditions import are_most
from stepgrid.summarize.comparisons.ladders import LevelChange, versions
from stepgrid.summarize.data.tables_reader import Place
from stepgrid.summarize.statistics.confidence_intervals import Values, log_mean
from stepgrid_answers.ladders import FEWEST_RUNGS
from stepgrid_answers.levels import MeasuredFigure, changes, quiet_figures
from stepgrid_judge.figures import ALL, JudgeRequest, list_figures, name_arms, printable
from stepgrid_judge.readers import ForeignFile

MOST_PLANS = 400  # that are read, the newest
MOST_RUNGS = 2_000
COMMIT_LETTERS = 8
Labels = tuple[tuple[str, str], ...]


class SeriesError(StepgridError):
    """Nothing that is a series."""

    status = USAGE


class Rung(Struct, frozen=True):
    """A release on a day: its loads."""

    name: str  # v1.6; with the day where it was measured on several
    values: Values  # load -> figures
    day: str = ""
    plan: str = ""  # the first that measured it
    build: str = ""
    runs: frozenset[tuple[Place, str]] = frozenset()  # with their attempts
    disturbed: frozenset[int] = frozenset()  # loads without a figure of a quiet host
    names: frozenset[str] = frozenset()  # version, commit and names of its build: what notes call it

    @property
    def mean(self) -> float:
        """The geometric mean of its loads."""
        return math.exp(sum(map(log_mean, self.values.values())) / len(self.values))


class SeriesChange(Struct, frozen=True):
    """A rung from which the level is another, and what a person said of it."""

    rung: Rung
    previous: tuple[str, str]  # the first and the last rung of the level before
    change: LevelChange
    word: str
    conclusion: Conclusion | None = None

    @property
    def text(self) -> str:
        _, _, ratio, low, high, _ = self.change
        first, last = self.previous
        before = first if first == last else f"{first} to {last}"
        noted = f"; {self.conclusion.sentence}" if self.conclusion else ""
        return f"{units.ratio_with_interval(ratio, low, high, units.TIMES)} {self.word} than {before}{noted}"


class Series(Struct, frozen=True):
    spec: str  # with its scale; "" of files
    step: str
    labels: Labels  # of all axes but the builds
    metric: ComparedMetric
    rungs: tuple[Rung, ...]
    changes: tuple[SeriesChange, ...] = ()
    host: str = ""
    remark: str = ""  # what tells it from another of its name: its engine, other settings
    idle: tuple[str, ...] = ()  # rungs with a load without a figure above 0: they are in no level
    busy: tuple[str, ...] = ()  # rungs most of whose loads were disturbed: they are in no level, either
    key: str = ""  # of its address: the same in each run, whatever else is in the store
    is_judged: bool = True  # False: too few rungs or loads to seek a change

    @property
    def name(self) -> str:
        """Name it by step, labels and metric: `readww/cache=lru p99_us`."""
        path = "/".join([self.step, *(f"{axis}={label}" for axis, label in self.labels)])
        metric = "" if self.metric.name == QPS else f" {self.metric.name}"
        return f"{path}{metric}{f' ({self.remark})' if self.remark else ''}"

    @property
    def noun(self) -> str:
        return "day" if self.rungs and all(rung.name == rung.day for rung in self.rungs) else "release"

    def moves_before(self, build: str, ratio: float) -> tuple[int, int]:
        """Count the steps before a build that are no change of level, and those as large as a ratio.

        None is counted as large where all are one way."""
        rungs = takewhile(lambda rung: rung.build != build, self.rungs)
        changed = {change.rung.name for change in self.changes}
        pairs = [pair for pair in pairwise(rungs) if pair[1].name not in changed]
        logs = [math.log(after.mean / before.mean) for before, after in pairs]
        large = [log for log in logs if abs(log) >= abs(math.log(ratio))]
        is_both_ways = any(log > 0 for log in large) and any(log < 0 for log in large)
        return len(logs), len(large) if is_both_ways else 0


class _StoredFigure(NamedTuple):
    build: str
    source: Place  # its stage and position
    attempt: str
    load: int
    value: float
    plan: str
    is_disturbed: bool


class _Build(NamedTuple):
    engine: str
    version: str
    commit: str
    date: str  # of the commit
    recipe: str
    names: frozenset[str]


class _SeriesKey(NamedTuple):
    """Figures with one key may be compared: of the same work on the same host."""

    spec: str
    step: str
    labels: Labels
    metric: ComparedMetric
    engine: str
    host: str
    work: str


_FiguresBySeries = dict[_SeriesKey, dict[tuple[str, str, int], _StoredFigure]]  # by stage, attempt and position


# A store


def store_series(
    store: Store, is_chosen: Callable[[StoredPlan], bool], effect: float = SMALLEST_EFFECT, are_named: bool = True
) -> list[Series]:
    """List the series of the tables of plans of a store; the plans of a series differ in builds alone.

    `are_named`: hosts have their names, which a published site does not tell."""
    figures: _FiguresBySeries = defaultdict(dict)
    builds: dict[str, _Build] = {}
    for stored in [stored for stored in stored_plans(store) if is_chosen(stored)][-MOST_PLANS:]:
        with suppress(*DAMAGED, *table_faults()):
            _read_plan(store, plan_file.read(stored.folder), figures, builds)
    if not are_named:
        figures = _without_hosts(figures)
    series = [_make(key, list(several.values()), builds, effect) for key, several in figures.items()]
    return _with_remarks(list(figures), series)


def _without_hosts(figures: _FiguresBySeries) -> _FiguresBySeries:
    """Number the hosts of each spec as they came to it, so that a further one changes no number."""
    first_attempts: dict[str, dict[str, str]] = defaultdict(dict)
    for key, rows in figures.items():
        hosts, first = first_attempts[key.spec], min((attempt for _, attempt, _ in rows), default="~")
        hosts[key.host] = min(first, hosts.get(key.host, first))
    order = {spec: sorted(hosts, key=lambda host: (hosts[host], host)) for spec, hosts in first_attempts.items()}
    return {key._replace(host=f"host {order[key.spec].index(key.host) + 1}"): rows for key, rows in figures.items()}


def _read_plan(
    store: Store,
    plan: Plan,
    figures: _FiguresBySeries,
    builds: dict[str, _Build],
) -> None:
    axes = axis_columns([axis.name for axis in plan.axes])
    scale = f" ({plan.scale})" if plan.scale else ""
    work = _work_of(plan)
    with open_tables(store.tables(plan.digest)) as connection:
        result = connection.execute("SELECT name, unit, better FROM metrics")
        declared_metrics = {name: ComparedMetric(name, unit or "", better) for name, unit, better in result.fetchall()}
        result = connection.execute(
            "SELECT * FROM steps WHERE measured AND attempt IS NOT NULL AND same_as IS NULL AND status = ?",
            [str(Status.DONE)],
        )
        columns = [column[0] for column in result.description or ()]
        rows = [dict(zip(columns, row, strict=True)) for row in result.fetchall()]
        facts = connection.execute(
            "SELECT scope, subject, name, value FROM environment WHERE scope IN ('build', 'noise') OR name = 'hostname'"
        ).fetchall()
        past = connection.execute("SELECT stage, position, attempt, load, host, qps FROM history").fetchall()
    hosts = {subject: value for scope, subject, _, value in facts if scope == "host"}
    disturbed = {subject for scope, subject, name, _ in facts if scope == "noise" and name == "warning"}
    _add_builds(facts, rows, builds)
    metrics = [
        declared_metrics.get(name, ComparedMetric(name, "", None)) for name in _metric_names(plan, declared_metrics)
    ]
    keys_by_place = {}
    for row in rows:
        labels = tuple(
            (axis, row[column]) for axis, column in axes.items() if axis != BUILD and row[column] is not None
        )
        build, at = row["build_id"], (row["stage"], row["position"])
        subject = f"{row['stage']}/{row['attempt']}"
        host, is_disturbed = hosts.get(subject, ""), subject in disturbed
        for metric in metrics:
            engine = builds[build].engine
            key = _SeriesKey(f"{plan.spec}{scale}", row["step"], labels, metric, engine, host, work(*at))
            keys_by_place[at, metric.name] = key, build
            if (value := row.get(metric.name)) is not None:
                figure = _StoredFigure(build, at, row["attempt"], row["load"], float(value), plan.digest, is_disturbed)
                figures[key].setdefault((row["stage"], row["attempt"], row["position"]), figure)
    for stage, position, attempt, load, host, qps in past:  # older results of the same stages
        if ((stage, position), QPS) in keys_by_place:
            key, build = keys_by_place[(stage, position), QPS]
            is_disturbed = bool(attempt_record(store.results_of(stage) / attempt).warning)
            figure = _StoredFigure(build, (stage, position), attempt, load, float(qps), plan.digest, is_disturbed)
            figures[key._replace(host=host or "")].setdefault((stage, attempt, position), figure)


def _metric_names(plan: Plan, metrics: Mapping[str, ComparedMetric]) -> list[str]:
    """List the metric that the report leads with, then those that it compares beside it."""
    report = plan.report
    declared = [name for name in report.declared if name in metrics and (metrics[name].better or name == report.metric)]
    first = report.metric or (QPS if QPS in metrics or not report.declared else report.declared[0])
    return list(dict.fromkeys(name for name in (first, QPS, *declared) if name in metrics))


def _add_builds(facts: Iterable[Sequence[str]], rows: Iterable[Mapping[str, str]], builds: dict[str, _Build]) -> None:
    by_build: dict[str, dict[str, str]] = defaultdict(dict)
    for scope, subject, name, value in facts:
        if scope == "build":
            by_build[subject][name] = value
    labels: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        labels[row["build_id"]].add(row["build"])
    for node, names in labels.items():
        record = by_build.get(node, {})
        source, declared = (_json(record.get(name, "")) for name in ("facts", "declared"))
        commit, version = str(source.get("commit") or ""), record.get("version") or str(declared.get("version") or "")
        title = min(names) if version in ("", "unknown") else version  # of a tree: its name
        recipe = json.dumps(declared.get("recipe"), sort_keys=True)
        date = str(source.get("commit_date") or "")
        builds[node] = _Build(
            record.get("engine", ""), title, commit, date, recipe, frozenset({*names, version, commit})
        )


def _json(text: str) -> Mapping[str, Json]:
    with suppress(ValueError):
        return parse_record(text, dict[str, Json])
    return {}


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _work_of(plan: Plan) -> Callable[[str, int], str]:
    """Digest what a step and all before it were asked to do, whatever the build, the load and its seed."""
    stages = {stage.id: stage for stage in plan.stages}

    @cache
    def of_stage(node: str, count: int | None) -> str:
        stage = stages[node]
        parent = of_stage(stage.parent, None) if stage.parent else ""
        steps = [
            (step.name, step.kind, step.settings, {name: option.value for name, option in step.options.items()})
            for step in stage.steps[:count]
        ]
        return digest(f"{parent}{encode(steps)}")

    return lambda stage, position: of_stage(stage, position + 1)


def _with_remarks(keys: Sequence[_SeriesKey], series: Sequence[Series]) -> list[Series]:
    """Tell series of one name apart: by engine and host, else as other settings, the newest without a remark."""
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for index, key in enumerate(keys):
        if series[index].rungs or series[index].busy:
            groups[key.spec, key.step, key.labels, key.metric].append(index)
    distinct: list[Series] = []
    for members in groups.values():
        engines, hosts = ({getattr(keys[index], name) for index in members} for name in ("engine", "host"))
        counts: Counter[str] = Counter()
        days = {index: max((rung.day for rung in series[index].rungs), default="") for index in members}
        for index in sorted(members, key=days.__getitem__, reverse=True):
            key = keys[index]
            parts = [key.engine if len(engines) > 1 else "", f"on {key.host}" if len(hosts) > 1 else ""]
            remark = ", ".join(filter(None, parts))
            counts[remark] += 1
            if counts[remark] > 1:
                remark = ", ".join(filter(None, (remark, f"other settings {counts[remark] - 1}")))
            distinct.append(replace(series[index], remark=remark))
    return distinct


def _make(key: _SeriesKey, figures: Sequence[_StoredFigure], builds: Mapping[str, _Build], effect: float) -> Series:
    names = _rung_names({figure.build for figure in figures}, builds)
    rows: dict[tuple[str, str], list[_StoredFigure]] = defaultdict(list)
    for figure in figures:
        rows[figure.build, _day(figure.attempt)].append(figure)
    days = Counter(build for build, _ in rows)
    order = _order({figure.build for figure in figures}, names, builds, figures)
    rungs = []
    for build, day in sorted(rows, key=lambda row: (order.index(row[0]), row[1])):
        day_figures = [MeasuredFigure(figure.load, figure.value, figure.is_disturbed) for figure in rows[build, day]]
        values, disturbed = quiet_figures(day_figures)
        name = f"{names[build]} {day}" if days[build] > 1 else names[build]
        first = min(rows[build, day], key=lambda figure: figure.attempt)
        runs = frozenset((figure.source, figure.attempt) for figure in rows[build, day])
        rungs.append(Rung(name, values, day, first.plan, build, runs, disturbed, builds[build].names | {names[build]}))
    series = Series(key.spec, key.step, key.labels, key.metric, tuple(rungs), host=key.host, key=digest(encode(key)))
    return find_changes(series, effect)


def _day(attempt: str) -> str:
    """Read the day (UTC) with which the name of an attempt begins: 20261120T101500.000000Z."""
    return f"{attempt[:4]}-{attempt[4:6]}-{attempt[6:8]}"


def _rung_names(nodes: Iterable[str], builds: Mapping[str, _Build]) -> dict[str, str]:
    """Name builds by version; of one version, such as a branch, by its commit, too, and by its own name."""
    nodes = sorted(nodes)
    names = {node: builds[node].version for node in nodes}
    for suffix in (lambda node: builds[node].commit[:COMMIT_LETTERS], lambda node: min(builds[node].names - {""}),
                 lambda node: node[2 : 2 + COMMIT_LETTERS]):  # fmt: skip
        counts = Counter(names.values())
        names = {
            node: f"{name} {text}" if counts[name] > 1 and (text := suffix(node)) else name
            for node, name in names.items()
        }
    return names


def _order(
    nodes: Iterable[str], names: Mapping[str, str], builds: Mapping[str, _Build], figures: Sequence[_StoredFigure]
) -> list[str]:
    """Sort by version, else by the date of the commit, else by when they were measured first."""
    nodes = list(nodes)
    prefixed = {f"v-{names[node]}": node for node in nodes}
    if in_order := versions(prefixed):
        return [prefixed[name] for name in in_order]
    first = {node: min(figure.attempt for figure in figures if figure.build == node) for node in nodes}
    has_dates = all(builds[node].date for node in nodes)
    return sorted(nodes, key=lambda node: (builds[node].date if has_dates else "", first[node]))


# Changes


def find_changes(series: Series, effect: float) -> Series:
    """Cut a series into levels, as a ladder of one plan, or with the noise from one rung to the next."""
    idle = tuple(
        rung.name for rung in series.rungs if any(value <= 0 for runs in rung.values.values() for value in runs)
    )
    is_of_host = follows_host(series.metric.name, series.metric.unit, is_same_work=True)
    busy = tuple(rung.name for rung in series.rungs if is_of_host and are_most(rung.disturbed, rung.values))
    rungs = tuple(rung for rung in series.rungs if rung.name not in (*idle, *busy))[-MOST_RUNGS:]
    loads = sorted({load for rung in rungs for load in rung.values})
    levels: list[LevelChange] | None = None
    if len(rungs) >= FEWEST_RUNGS:
        grid = np.array([[log_mean(rung.values.get(load, ())) for load in loads] for rung in rungs])
        is_apart = len({(rung.plan, rung.day) for rung in rungs}) > 1 or not rungs[0].plan
        levels = changes(grid, effect, ALPHA, is_apart)
    level_changes = tuple(
        SeriesChange(
            rungs[change.at], (rungs[change.before].name, rungs[change.at - 1].name), change,
            series.metric.word(change.verdict),
        )
        for change in levels or ()
    )  # fmt: skip
    return replace(series, rungs=rungs, changes=level_changes, idle=idle, busy=busy, is_judged=levels is not None)


# Files


def file_series(
    files: Sequence[tuple[str, ForeignFile]], question: JudgeRequest, effect: float = SMALLEST_EFFECT
) -> list[Series]:
    """List the series of files: arms in order, or where there is one arm its loads, by the days that they name."""
    figures = list_figures(name_arms(files), question)
    sample = next(sample for _, file in files for sample in file.samples if sample.metric == figures[0].metric)
    metric = ComparedMetric(sample.metric, sample.unit, question.better or sample.better or None)
    arms = list(dict.fromkeys(figure.arm for figure in figures))
    order = list(versions([f"v-{arm}" for arm in arms])) or [f"v-{arm}" for arm in arms]
    points: dict[tuple[str, Labels], dict[str, dict[int, tuple[float, ...]]]] = defaultdict(dict)
    days: dict[str, str] = {}
    for figure in figures:
        day = printable(figure.moment[:10])
        name = figure.arm if len(arms) > 1 else day or _load_name(figure.load, files)
        days[name] = min(filter(None, (days.get(name, day), day)), default="")
        rung = points[figure.step, figure.labels].setdefault(name, {})
        rung[len(rung)] = (figure.value,)
    series = []
    for (step, labels), by_rung in points.items():
        names = sorted(by_rung, key=(lambda name: order.index(f"v-{name}")) if len(arms) > 1 else _by_day(days))
        rungs = tuple(Rung(name, by_rung[name], days[name], names=frozenset({name})) for name in names)
        title = step if step != ALL or len(points) > 1 else ALL
        series.append(find_changes(Series("", title, labels, metric, rungs), effect))
    return series


def _by_day(days: Mapping[str, str]) -> Callable[[str], tuple[str, int]]:
    order = list(days)
    return lambda name: (days[name], order.index(name))


def _load_name(load: str, files: Sequence[tuple[str, ForeignFile]]) -> str:
    index, _, process = load.partition(".")
    return printable(process or files[int(index) - 1][1].path.name)


def select(series: Iterable[Series], patterns: Sequence[str]) -> Iterator[Series]:
    """Select series by their names, or by parts of them with `*`."""
    from fnmatch import fnmatchcase

    for one in series:
        if not patterns or any(fnmatchcase(one.name, pattern) or one.step == pattern for pattern in patterns):
            yield one
