"""Cells and stages as lines of JSON, put together from pieces: there are as many of them as a grid is large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stepgrid.model.canonical_json import encode, flat, quoted
from stepgrid.model.plan import PlannedCell, PlannedStage, Repeat
from stepgrid.plan.files.step_parts import Writer


def cells(planned: Iterable[PlannedCell]) -> Iterator[str]:
    """In the plan's order."""
    known: dict[int, str] = {}  # cells share their steps
    for cell in planned:
        steps = known.get(id(cell.steps)) or known.setdefault(id(cell.steps), encode(cell.steps))
        repeats = ",".join([_repeat(repeat) for repeat in cell.repeats])
        yield (
            f'{{"id":{quoted(cell.id)},"build":{quoted(cell.build)},"labels":{flat(cell.labels)},'
            f'"repeats":[{repeats}],"steps":{steps}}}\n'
        )


def stages(planned: Iterable[PlannedStage], writer: Writer) -> Iterator[str]:
    """Sorted by id, which comes first on its line."""
    for stage in sorted(planned, key=lambda stage: stage.id):
        steps = ",".join([writer.step(step) for step in stage.steps])
        yield (
            f'{{"id":{quoted(stage.id)},"build":{quoted(stage.build)},"children":{_ids(stage.children)},'
            f'"hardware":{quoted(stage.hardware)},"load":{stage.load},"parent":{_parent(stage)},'
            f'"rank":{stage.rank},"run":{stage.run},"seconds":{stage.seconds!r},"steps":[{steps}],'
            f'"title":{quoted(stage.title)}}}\n'
        )


def _repeat(repeat: Repeat) -> str:
    return f'{{"load":{repeat.load},"run":{repeat.run},"stages":{_ids(repeat.stages)}}}'


def _parent(stage: PlannedStage) -> str:
    return "null" if stage.parent is None else quoted(stage.parent)


def _ids(nodes: Sequence[str]) -> str:
    return f"[{','.join(map(quoted, nodes))}]"
