"""Checkpoints that would save hours: beginnings that cells have in common and run each for itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from stepgrid.expand.steps.resolved_step import ResolvedStep, Segment
from stepgrid.lint.rule import Finding, Rule
from stepgrid.lint.subject import Subject
from stepgrid.model.units import duration

_WORTH = 3600.0  # seconds

Stage = tuple[tuple[int, ...], Segment]  # the stages before it, and its own steps


def _missing(subject: Subject) -> Iterator[Finding]:
    saved: dict[str, float] = defaultdict(float)
    for stages in _by_parent(subject).values():
        if len(stages) > 1:
            for step, seconds in _shared(stages):
                saved[step] += seconds * subject.spec.repeat.fewest
    if not saved:
        return
    step, seconds = max(saved.items(), key=lambda entry: entry[1])
    if seconds >= _WORTH:
        message = f"a checkpoint after step `{step}` would save {duration(seconds)}: cells repeat what leads to it"
        hint = f"add `{{checkpoint: NAME}}` after `{step}`, and `from: NAME` to the axes that change only what follows"
        yield Finding(subject.places.of_step(step, None), message, hint, width=len(step))


def _by_parent(subject: Subject) -> dict[tuple[int, ...], dict[int, Segment]]:
    """The distinct stages that follow each beginning; a stage that cells share is there once."""
    found: dict[tuple[int, ...], dict[int, Segment]] = defaultdict(dict)
    for segments in {tuple(map(id, cell.segments)): cell.segments for cell in subject.cells}.values():
        path: tuple[int, ...] = ()
        for segment in segments:
            found[path][id(segment)] = segment
            path = (*path, id(segment))
    return found


def _shared(stages: dict[int, Segment]) -> Iterator[tuple[str, float]]:
    """For each length of beginning: the step that ends it and the seconds that sharing it saves."""
    groups: list[Sequence[Segment]] = [list(stages.values())]
    length = 1
    while groups:
        closer: dict[tuple[int, ...], list[Segment]] = defaultdict(list)
        for group in groups:
            for segment in group:
                if len(segment.steps) > length:
                    closer[tuple(map(id, segment.steps[:length]))].append(segment)
        groups = [group for group in closer.values() if len(group) > 1]
        for group in groups:
            beginning = group[0].steps[:length]
            yield beginning[-1].head.name, (len(group) - 1) * sum(map(_seconds, beginning))
        length += 1


def _seconds(step: ResolvedStep) -> float:
    return step.settings.seconds


RULES = (Rule("checkpoint-missing", "a checkpoint that would save hours", _missing),)
