"""Arms of a comparison: each with its cases, and names of the places where some of these are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from stepgrid.model import units
from stepgrid.model.plan import BUILD
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT
from stepgrid.model.table import SAME as SAME_AS
from stepgrid.model.units import counted
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.builds import NO_VERDICT
from stepgrid.summarize.comparisons.comparison import (
    NO_BASE,
    RATIO,
    ArmEntry,
    ComparedPoint,
    Comparison,
    PooledRatio,
    ratio_text,
)
from stepgrid.summarize.comparisons.comparison_axes import Labels
from stepgrid.summarize.comparisons.conditions import OTHER_DURABILITY
from stepgrid.summarize.comparisons.ladders import versions
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.verdicts import UNDECIDED

IDLE = "without work in a load"
BUILD_NOUNS = "builds", "releases"  # the second where all are versions of one thing
UNCOMPARED = (ABSENT, NO_BASE, SAME_AS, Status.DONE)


class ArmCase(NamedTuple):
    row: ComparedPoint
    entry: ArmEntry

    @property
    def word(self) -> str:
        if self.entry.kind == SAME_AS and self.entry.same:
            return f"the same run as {self.entry.same}"
        if self.entry.kind != RATIO:
            return self.entry.kind
        if self.entry.idle and self.entry.verdict == UNDECIDED:
            return IDLE
        if self.entry.refusal or self.entry.verdict is None:
            return NO_VERDICT
        return verdicts.ONE_LOAD if self.entry.verdict == verdicts.INDICATIVE else self.entry.verdict

    @property
    def ratio(self) -> float:
        return self.entry.ratio or 1.0

    @property
    def distance(self) -> float:
        return math.inf if self.entry.idle else self.entry.distance

    @property
    def text(self) -> str:
        return ratio_text(self.ratio, self.entry.interval, units.TIMES)


class Arm(Struct, frozen=True):
    comparison: Comparison
    labels: Labels
    cases: tuple[ArmCase, ...]
    supporting: tuple[str, ...] = ()  # what a busy host can still tell

    @property
    def name(self) -> str:
        return self.comparison.arm_name(self.labels)

    @property
    def metric(self) -> str:
        return self.comparison.metric.noun

    @property
    def compared(self) -> list[ArmCase]:
        return [case for case in self.cases if case.entry.kind == RATIO]

    @property
    def steps(self) -> list[str]:
        return list(dict.fromkeys(case.row.step for case in self.compared or self.cases))

    def of(self, *words: str) -> list[ArmCase]:
        return [case for case in self.compared if case.word in words]

    @property
    def unequal(self) -> str:
        """Return in which way arms that the spec compares all the same write with unequal durability."""
        doubts = (doubt for case in self.compared for doubt in case.entry.doubts)
        return next((doubt for doubt in doubts if doubt.startswith(OTHER_DURABILITY)), "")

    @property
    def pooled(self) -> PooledRatio | None:
        """Return the ratio over all points, where they are of one step and agree."""
        if len(self.steps) != 1 or len(self.labels) != 1:
            return None
        ratios = (ratio for ratio in self.comparison.pooled_of(self.steps[0]) if ratio.agrees)
        return next((ratio for ratio in ratios if ratio.label in self.labels), None)


def arms(comparison: Comparison) -> list[Arm]:
    columns = list(zip(*(row.entries for row in comparison.rows), strict=True))
    return [
        Arm(comparison, labels, tuple(map(ArmCase, comparison.rows, entries)))
        for labels, entries in list(zip(comparison.arms, columns, strict=True))[1:]
    ]


# Places of some of its cases


def base_and_place(cases: Sequence[ArmCase], arm: Arm) -> str:
    is_only = len(arm.compared) == 1 and len(arm.steps) == 1 and not arm.comparison.point_name(cases[0].row)
    return f"{arm.comparison.base}{in_step(arm)}{'' if is_only else f', {locate(cases, arm)}'}"


def in_step(arm: Arm) -> str:
    return f", in {arm.steps[0]}" if len(arm.steps) == 1 else ""


def locate(cases: Sequence[ArmCase], arm: Arm) -> str:
    """Write where some of the comparisons of an arm are: in all 3 releases, at threads=2, at 5 of 24 points."""
    if len(cases) == 1:
        point = arm.comparison.point_name(cases[0].row)
        if len(arm.steps) > 1:
            return f"in {arm.comparison.where(cases[0].row)}"
        return f"in {short_build(point)}" if _down(arm) == [BUILD] else f"at {point}" if point else f"in {arm.steps[0]}"
    preposition, noun = point_noun(arm)
    if len(cases) == len(arm.compared):
        return f"{preposition} {all_points(arm)}"
    if shared := _shared_place(cases, arm):
        return shared
    return f"{preposition} {len(cases)} of {len(arm.compared)} {noun}"


def outcomes(arm: Arm, *first: str) -> str:
    """Count all comparisons of an arm by their outcome: `slower in 20, faster in scan, undecided in 4 of 29 steps`."""
    counts = Counter(case.word for case in arm.compared)
    words = sorted(counts, key=lambda word: (word not in first, -counts[word]))
    preposition, noun = point_noun(arm)
    total, texts = f" of {len(arm.compared)} {noun}", []
    for word in words:
        location = locate(arm.of(word), arm)
        if ", " in location and word not in verdicts.DIFFERENCES:  # a long name is worth it for what changed
            location = f"{preposition} {counts[word]}{total}"
        texts.append(f"{'the same' if word == verdicts.SAME else word} {location}")
    counted_texts = [text for text in texts if text.endswith(total)]
    return ", ".join(text if text in counted_texts[-1:] else text.removesuffix(total) for text in texts)


def _shared_place(cases: Sequence[ArmCase], arm: Arm) -> str:
    """Name the step or label that these comparisons of an arm have and no other: in readww, at cached=all."""
    chosen = set(map(id, cases))
    for position, name in enumerate(("step", *arm.comparison.layout.down)):
        labels = [(case.row.step, *case.row.labels)[position] for case in arm.compared]
        shared = {label for label, case in zip(labels, arm.compared, strict=True) if id(case) in chosen}
        if len(shared) == 1 and sum(label in shared for label in labels) == len(cases):
            return f"at {comparison_axes.words(tuple(shared), (name,))}" if position else f"in {shared.pop()}"
    return ""


def all_points(arm: Arm) -> str:
    """Name all comparisons of an arm: all 3 releases, both steps, all 12 points of 6 steps."""
    _, noun = point_noun(arm)
    count = "both" if len(arm.compared) == 2 else f"all {len(arm.compared)}"
    return f"{count} {noun}{f' of {len(arm.steps)} steps' if noun == 'points' and len(arm.steps) > 1 else ''}"


def point_noun(arm: Arm) -> tuple[str, str]:
    """Name what the comparisons of an arm differ in, with its preposition."""
    names = _down(arm)
    if len(arm.steps) > 1:
        return ("in", "steps") if len(arm.steps) == len(arm.compared) else ("at", "points")
    if names == [BUILD]:
        position = arm.comparison.layout.down.index(BUILD)
        labels = [str(case.row.labels[position]) for case in arm.compared]
        return "in", BUILD_NOUNS[bool(versions(labels))]
    return "at", f"values of {names[0]}" if len(names) == 1 else "points"


def _down(arm: Arm) -> list[str]:
    """List the axes in which the comparisons of an arm differ."""
    columns = zip(*(case.row.labels for case in arm.compared), strict=True)
    names = zip(arm.comparison.layout.down, columns, strict=False)
    return [name for name, labels in names if len(set(labels) - {None}) > 1]


def short_build(name: str) -> str:
    """Drop the name of the engine from a release: 7.8.3."""
    return name.rpartition("-")[2] if versions([name]) else name


def other_counts(arm: Arm, words: Sequence[str]) -> str:
    """Count the other outcomes: 2 undecided, 1 of 5 points failed."""
    counts = Counter(case.word for case in arm.cases if case.word not in (*words, *UNCOMPARED))
    points = f" of {counted(len(arm.cases), 'point')}"
    return ", ".join(f"{count}{points if word in {*Status} else ''} {word}" for word, count in counts.items())
