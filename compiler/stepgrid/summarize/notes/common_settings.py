"""What all arms of a build set: the options that no axis changes, each once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field

from stepgrid.model.plan import BUILD, Axis, PlannedCell
from stepgrid.plan import difference
from stepgrid.plan.difference import Link
from stepgrid.summarize.notes.arm_settings import ArmSettings
from stepgrid.summarize.notes.step_settings import telling_cells

MOST_OPTIONS = 24  # options of a build
MOST_STEPS = 2  # steps that are named


@dataclass(slots=True)
class _Option:
    values: dict[str, None] = field(default_factory=dict)
    steps: dict[str, None] = field(default_factory=dict)  # that set it


def common_settings(
    cells: Sequence[PlannedCell],
    axes: Sequence[Axis],
    links: Callable[[Sequence[str]], list[Link]],
    settings: Sequence[ArmSettings],
) -> Iterator[tuple[str, str]]:
    """Builds, and what they all set. `settings`: of the arms, which are left out here."""
    changed = {name.partition(" (")[0] for each in settings for name, _ in each.rows}
    alike: dict[tuple[str, ...], list[str]] = {}
    for build, build_cells in _by_build(cells).items():
        told = tuple(_sentences(telling_cells(build_cells, axes), links, changed))
        alike.setdefault(told, []).append(build)
    for told, builds in alike.items():
        if told:
            omitted = len(told) - MOST_OPTIONS
            more = [f"and {omitted} more: `stepgrid explain SPEC` has all"] if omitted > 0 else []
            texts = "; ".join([*told[:MOST_OPTIONS], *more])
            yield "all arms" if len(alike) == 1 else f"all of {', '.join(builds)}", texts


def _by_build(cells: Sequence[PlannedCell]) -> dict[str, list[PlannedCell]]:
    found: dict[str, list[PlannedCell]] = {}
    for cell in cells:
        found.setdefault(cell.labels.get(BUILD, cell.build), []).append(cell)
    return found


def _sentences(
    cells: Sequence[PlannedCell], links: Callable[[Sequence[str]], list[Link]], changed: Set[str]
) -> Iterator[str]:
    found, every = dict[str, _Option](), dict[str, None]()
    for step in (step for cell in cells for link in links(cell.repeats[0].stages) for step in link.stage.steps):
        every[step.name] = None
        for name, option in step.options.items():
            own = found.setdefault(name, _Option())
            own.values[difference.value_text(option.value, difference.may_be_size(f"options.{name}"))] = None
            own.steps[step.name] = None
    for name, own in found.items():
        if len(own.values) == 1 and name not in changed:
            yield f"{name} {next(iter(own.values))}{_where(own.steps, every)}"


def _where(steps: Collection[str], every: Collection[str]) -> str:
    """An option of the load alone would otherwise be taken for one of what is compared."""
    if len(steps) == len(every):
        return ""
    return f" ({', '.join(steps)})" if len(steps) <= MOST_STEPS else f" ({len(steps)} of {len(every)} steps)"
