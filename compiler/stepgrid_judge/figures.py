"""Samples of files → arms, loads and points, as a report takes them; and doubts about how they were measured."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec import Struct, field

from stepgrid.errors import USAGE, StepgridError
from stepgrid.language.problems import nearest
from stepgrid.model.plan import BUILD, IMPORT, CellStep, Plan, PlannedAxis, PlannedCell, PlannedRepeat, PlannedReport
from stepgrid.model.records import replace
from stepgrid.model.status import Status
from stepgrid.model.units import counted
from stepgrid.summarize import report as reports
from stepgrid.summarize.data.tables_reader import Run, Tables
from stepgrid_judge.readers import ForeignFile, Sample

ARM = "arm"
ALL = "all"  # a step of one name
KIND = "command"  # of a step: any program
MOST_LOADS, MOST_ARMS, LONGEST_NAME = 10_000, 200, 200
COARSE = 20  # values that are on fewer steps of a clock are coarse, where there are at least as many values
_NUMBERED = re.compile(r"(?<=.)[-_.]?(?:run|load|r|l)?\d{1,4}$")  # main-1, main.2: loads of one arm


class JudgeError(StepgridError):
    """Files that cannot be compared."""

    status = USAGE


class JudgeRequest(Struct, frozen=True):
    """A comparison that the words of the command ask for."""

    base: str = ""
    metric: str = ""
    better: str = ""
    steps: tuple[str, ...] = ()
    effect: float = 0.02


class LoadFigure(NamedTuple):
    """A load of a benchmark on an arm."""

    arm: str
    load: str
    labels: tuple[tuple[str, str], ...]
    step: str
    metric: str
    value: float
    moment: str


class Judged(Struct, frozen=True, dict=True):
    """Figures in the form of results: what a report is made of."""

    plan: Plan
    tables: Tables
    doubts: tuple[str, ...] = field(default=())

    @cached_property
    def report(self) -> reports.Report:
        return reports.make_report(replace(self.plan, warnings=self.doubts), self.tables)


def name_arms(files: Sequence[tuple[str, ForeignFile]]) -> dict[str, list[ForeignFile]]:
    """Sort files into arms: by the name before `=`, else by the file's, without a number at its end."""
    arms: dict[str, list[ForeignFile]] = defaultdict(list)
    stems = Counter(_stem(figures.path) for name, figures in files if not name)
    bare = {_NUMBERED.sub("", stem) for stem in stems}
    for name, figures in files:
        stem = _stem(figures.path)
        arms[name or (_NUMBERED.sub("", stem) if len(bare) > 1 or len(files) != 2 else stem)].append(figures)
    return arms


def _stem(path: Path) -> str:
    return path.name.partition(".")[0] or path.name


def list_figures(arms: Mapping[str, Sequence[ForeignFile]], question: JudgeRequest) -> list[LoadFigure]:
    """List one figure for each load: the median of what its process repeated."""
    is_alone = len(arms) == 1
    inner_names = {sample.arm for files in arms.values() for file in files for sample in file.samples}
    figures = []
    for arm, files in arms.items():
        for index, file in enumerate(files, 1):
            names = {sample.step for sample in file.samples}
            are_commands = is_alone and len(files) == 1 and file.tool == "hyperfine" and len(names) > 1
            for sample in file.samples:
                inner = sample.step if are_commands else sample.arm if is_alone or len(inner_names) > 1 else ""
                load = f"{index}.{sample.process}" if sample.process else str(index)
                step = ALL if are_commands else sample.step
                labels = tuple(sorted((printable(axis), printable(text)) for axis, text in sample.labels.items()))
                name = inner if is_alone and inner else f"{arm}:{inner}" if inner and inner != arm else inner or arm
                figures.append(
                    LoadFigure(
                        printable(name),
                        load,
                        labels,
                        printable(step),
                        sample.metric,
                        median(sample.values),
                        sample.moment,
                    )
                )
    figures = _same_step(figures)
    metrics = list(dict.fromkeys(figure.metric for figure in figures))
    if question.metric and question.metric not in metrics:
        raise JudgeError(f"no file has a metric `{question.metric}`: {nearest(question.metric, metrics)}")
    for wanted in question.steps:
        if wanted not in {figure.step for figure in figures}:
            raise JudgeError(f"no file has a step `{wanted}`: {nearest(wanted, {figure.step for figure in figures})}")
    return [
        figure
        for figure in figures
        if figure.metric == (question.metric or metrics[0]) and (not question.steps or figure.step in question.steps)
    ]


def printable(text: str) -> str:
    """Write a name of a stranger's file for a terminal, at a length that a row has room for."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:LONGEST_NAME])


def _same_step(figures: list[LoadFigure]) -> list[LoadFigure]:
    """Give arms of one benchmark each the same step: `./old` against `./new` are two names of one."""
    steps: dict[str, set[str]] = defaultdict(set)
    for figure in figures:
        steps[figure.arm].add(figure.step)
    names = [next(iter(names)) for names in steps.values() if len(names) == 1]
    is_one = len(names) == len(steps) == len(set(names))
    return [figure._replace(step=ALL) for figure in figures] if is_one else figures


def judge(files: Sequence[tuple[str, ForeignFile]], question: JudgeRequest) -> Judged:
    """Make results of files; a JudgeError where nothing can be compared."""
    figures = list_figures(name_arms(files), question)
    samples = [sample for _, file in files for sample in file.samples if sample.metric == figures[0].metric]
    return judge_figures(figures, question, samples[0], tuple(_doubts(figures, samples)))


def judge_figures(
    figures: Sequence[LoadFigure], question: JudgeRequest, sample: Sample, doubts: tuple[str, ...] = ()
) -> Judged:
    """Make results of figures; `sample` has their metric and unit."""
    names = list(dict.fromkeys(figure.arm for figure in figures))
    if len(names) < 2:
        hint = "name arms: `judge main=a.json change=b.json`, or `--arm COLUMN` of a table"
        raise JudgeError(f"one arm alone, `{names[0]}`, is compared with nothing; {hint}")
    if len(names) > MOST_ARMS:
        raise JudgeError(f"{len(names):,} arms: at most {MOST_ARMS}; `--arm COLUMN` says which column has them")
    base = question.base or names[0]
    if base not in names:
        raise JudgeError(f"there is no arm `{base}`: {nearest(base, names)}")
    better = question.better or sample.better
    if not better:
        raise JudgeError(
            f"no file says which direction of `{sample.metric}` is better: `--better higher` or `--better lower`"
        )
    directed = replace(sample, better=better)
    return Judged(*_results(figures, names, base, directed, question.effect), doubts)


def _results(
    figures: Sequence[LoadFigure], arms: Sequence[str], base: str, sample: Sample, effect: float
) -> tuple[Plan, Tables]:
    steps = list(dict.fromkeys(figure.step for figure in figures))
    label_names = list(dict.fromkeys(name for figure in figures for name, _ in figure.labels))
    loads = _load_numbers(figures)
    values: dict[tuple[str, tuple[tuple[str, str], ...]], dict[tuple[str, int], list[LoadFigure]]] = {}
    for figure in figures:
        cell = values.setdefault((figure.arm, figure.labels), {})
        cell.setdefault((figure.step, loads[figure.arm, figure.load]), []).append(figure)
    cells, runs = [], []
    for number, ((arm, labels), measured) in enumerate(values.items(), 1):
        cell_id, text = f"c{number}", {BUILD: arm, ARM: arm, **dict(labels)}
        numbers = sorted({load for _, load in measured})
        repeats = tuple(PlannedRepeat(load, 1, (f"{cell_id}-{load}",)) for load in numbers)
        cell_steps = tuple(CellStep(step, KIND, 0, index, True, step) for index, step in enumerate(steps))
        cells.append(PlannedCell(cell_id, text, arm, cell_steps, repeats))
        runs += [_run(cell_id, text, steps.index(step), load, group) for (step, load), group in measured.items()]
    axes = [PlannedAxis(ARM, tuple(arms))] + [
        PlannedAxis(
            name, tuple(dict.fromkeys(dict(figure.labels)[name] for figure in figures if name in dict(figure.labels)))
        )
        for name in label_names
    ]
    report = PlannedReport(base={ARM: base}, smallest_effect=effect, metric=sample.metric)
    plan = Plan(
        digest="", title=" against ".join(arms[:2]) if len(arms) == 2 else f"{len(arms)} arms", spec=f"{IMPORT} judge",
        scale=None, axes=tuple(axes), cells=tuple(cells), builds=(), stages=(), hardware={}, report=report,
    )  # fmt: skip
    tables = Tables(tuple(runs), {}, {}, {sample.metric: sample.unit}, {sample.metric: sample.better})
    return plan, tables


def _run(cell: str, labels: Mapping[str, str], position: int, load: int, figures: Sequence[LoadFigure]) -> Run:
    first = figures[0]
    return Run(
        cell=cell, labels=labels, step=first.step, kind=KIND, measured=True, build=first.arm, build_id="",
        client_id=None, load=load, run=1, place=(f"{cell}-{load}", position), attempt=None, same_as=None,
        status=Status.DONE, reason=None, log=None, started=_moment(first.moment), warnings=(),
        metrics={first.metric: median(figure.value for figure in figures)},
    )  # fmt: skip


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.astimezone()


def _load_numbers(figures: Iterable[LoadFigure]) -> dict[tuple[str, str], int]:
    """Number the loads in the order in which they come: loads of one name are pairs, and arms without any pair count
    each from 1."""
    arms_by_load: dict[str, list[str]] = {}
    for arm, load in dict.fromkeys((figure.arm, figure.load) for figure in figures):
        arms_by_load.setdefault(load, []).append(arm)
    has_pairs = any(len(arms) > 1 for arms in arms_by_load.values())
    numbers: dict[tuple[str, str], int] = {}
    counts: Counter[str] = Counter()
    for position, (load, arms) in enumerate(arms_by_load.items(), 1):
        for arm in arms:
            counts[arm] += 1
            if counts[arm] > MOST_LOADS:
                raise JudgeError(f"arm `{arm}` has more than {MOST_LOADS:,} loads")
            numbers[arm, load] = position if has_pairs else counts[arm]
    return numbers


# What the figures are worth


def _doubts(figures: Sequence[LoadFigure], samples: Sequence[Sample]) -> Iterator[str]:
    repeated = max((len(sample.values) for sample in samples), default=1)
    if repeated > 1:
        yield (
            f"up to {counted(repeated, 'value')} of one process count as one load, by their median: repeats "
            "within a process share its memory layout, its caches and its moment"
        )
    if order := _blocks(figures):
        yield (
            f"the arms were not measured by turns ({order}): what drifts on the host is taken for a difference. "
            "`stepgrid judge --how` shows a loop"
        )
    values = [value for sample in samples for value in sample.values]
    if len(values) >= COARSE and len(set(values)) * 4 < len(values) and len(set(values)) < COARSE:
        yield f"the clock is coarse: {len(values):,} values are on {len(set(values))} steps"


def _blocks(figures: Sequence[LoadFigure]) -> str:
    """Say so where all of one arm was measured before another, by the times that the files have."""
    moments: dict[str, list[str]] = defaultdict(list)
    for figure in figures:
        if figure.moment:
            moments[figure.arm].append(figure.moment)
    spans = sorted((min(times), max(times), arm) for arm, times in moments.items())
    for (_, end, arm), (begin, _, other) in pairwise(spans):
        if end < begin:
            return f"`{arm}` until {end}, `{other}` from {begin}"
    return ""
