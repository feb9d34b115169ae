"""The steps of a build's cells, in segments between checkpoints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from stepgrid.expand.axes.choice import Choice
from stepgrid.expand.axes.points import Point
from stepgrid.expand.axes.step_range import StepRange
from stepgrid.expand.builds import Build
from stepgrid.expand.evaluation_cache import EvaluationCache
from stepgrid.expand.step_entry import Checkpoint, StepEntry
from stepgrid.expand.steps import service
from stepgrid.expand.steps.evaluation import EvaluationContext, Frame
from stepgrid.expand.steps.resolved_step import ResolvedStep, Segment
from stepgrid.language.problems import Location, Problems
from stepgrid.language.yaml import node_location
from stepgrid.model.plan import SERVICE
from stepgrid.model.search import SEARCH


class Sequences:
    def __init__(
        self,
        choices: Iterable[Choice],
        items: Sequence[StepEntry | Checkpoint],
        reach: StepRange,
        ground: EvaluationContext,
    ) -> None:
        self._items, self._reach, self._ground = items, reach, ground
        by_build: dict[Build, list[Choice]] = defaultdict(list)
        for choice in choices:
            by_build[choice.build].append(choice)
        self._frames = {build: list(self._segmented(build, _points(own))) for build, own in by_build.items()}

    def segments(self, choice: Choice) -> tuple[Segment, ...]:
        """Those that have steps."""
        found = [segment(choice) for segment in self._frames[choice.build]]
        segments = tuple([segment for segment in found if segment.steps])
        names = [step.head.name for segment in segments for step in segment.steps]
        if len(set(names)) < len(names):
            self._twice(names)
        for step in (step for segment in segments[:-1] for step in segment.steps if SEARCH in step.setup.values):
            self._before_a_checkpoint(step.head.name)
        return segments

    def _segmented(self, build: Build, points: Sequence[Sequence[Point]]) -> list[EvaluationCache[Segment]]:
        segments: list[list[Frame]] = [[]]
        for item in self._items:
            if isinstance(item, Checkpoint):
                segments.append([])
            else:
                segments[-1].append(Frame(item, build, self._reach.axes(item), points, self._ground))
        once = _once_on_a_server if build.reached else _once
        return [once(frames, build, self._ground.problems) for frames in segments]

    def _before_a_checkpoint(self, name: str) -> None:
        """A database that is made again must be the same."""
        steps = (item for item in self._items if isinstance(item, StepEntry) and item.name == name)
        where = next(item.search_at or item.where for item in steps)
        message = (
            f"step `{name}` searches before a checkpoint: what follows would start from another database each time"
        )
        self._ground.problems.add("search-form", where, message, "put the search after the last checkpoint")

    def _twice(self, names: Sequence[str]) -> None:
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            where = [item.where for item in self._items if item.name == name][-1]
            message = f"two steps of a cell are named `{name}`"
            self._ground.problems.add("defined-twice", where, message, "give one of them `as: …`", len(name))


def _once(frames: Sequence[Frame], build: Build, problems: Problems) -> EvaluationCache[Segment]:
    axes: frozenset[int] = frozenset().union(*(frame.axes for frame in frames))
    return EvaluationCache(axes, lambda choice: Segment.of(frame.step(choice) for frame in frames))


def _once_on_a_server(frames: Sequence[Frame], build: Build, problems: Problems) -> EvaluationCache[Segment]:
    """The steps of a stage share one server: its options cannot change between them."""
    found = _once(frames, build, problems)

    def checked(choice: Choice) -> Segment:
        segment = found(choice)
        for one, other in pairwise(segment.steps):
            _same_options(one, other, problems)
            _same_service(build, one, other, problems)
        for step in segment.steps if build.service is not None else ():
            _reached_options(build, step, problems)
        return segment

    return EvaluationCache(frozenset().union(*(frame.axes for frame in frames)), checked)


def _same_options(one: ResolvedStep, other: ResolvedStep, problems: Problems) -> None:
    for name in sorted(one.options.keys() | other.options.keys()):
        before, after = one.options.get(name), other.options.get(name)
        if (before and before.value) != (after and after.value):
            said = after or before
            assert said is not None
            message = f"`{name}` differs between `{one.head.name}` and `{other.head.name}`, which share a server"
            hint = f"a change needs a restart: put `{{checkpoint: NAME}}` before `{other.head.name}`"
            problems.add("needs-checkpoint", Location.read(said.where), message, hint, len(name))


def _same_service(build: Build, one: ResolvedStep, other: ResolvedStep, problems: Problems) -> None:
    before, after = (step.setup.values.get(SERVICE) for step in (one, other))
    if build.service is None or before == after or not (isinstance(before, dict) and isinstance(after, dict)):
        return
    name = next(key for key in (*after, *before) if before.get(key) != after.get(key))
    message = f"`{name}` of the service differs between `{one.head.name}` and `{other.head.name}`, which share it"
    hint = f"a change needs a restart: put `{{checkpoint: NAME}}` before `{other.head.name}`"
    problems.add("needs-checkpoint", node_location(build.service.argv[0], build.where), message, hint)


def _reached_options(build: Build, step: ResolvedStep, problems: Problems) -> None:
    for name in service.unreached(build, step.options, step.setup.values, step.settings.values):
        message = f"the option `{name}` does not reach the service of build `{build.family}`"
        hint = f"add `\"{{options}}\"` to its `argv`, or a word with `{{{{ options['{name}'] }}}}`"
        problems.add("unused-option", Location.read(step.options[name].where), message, hint, len(name))


def _points(choices: Sequence[Choice]) -> list[list[Point]]:
    """Of each axis the points that stand in some choice."""
    columns = zip(*(choice.points for choice in choices), strict=True)
    return [[point for point in dict.fromkeys(column) if point is not None] for column in columns]
