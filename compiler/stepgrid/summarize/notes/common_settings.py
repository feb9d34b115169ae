"""What all arms of a build set: the options that no axis changes, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stepgrid.model.plan import Axis
from stepgrid.plan.base_stages import BUILD
from stepgrid.plan.difference import input_text
from stepgrid.plan.difference.stage_difference import Link
from stepgrid.summarize.notes.arm_settings import ArmSettings
from stepgrid.summarize.notes.step_settings import telling_cells

MOST = 24  # options of a build

Options = dict[str, dict[str, None]]  # option -> the values that it has


def common_settings(
    header: Mapping[str, Any],
    axes: Sequence[Axis],
    links: Callable[[Sequence[str]], list[Link]],
    settings: Sequence[ArmSettings],
) -> Iterator[tuple[str, str]]:
    """Builds, and what they all set. `settings`: of the arms, which are left out here."""
    changed = {name.partition(" (")[0] for each in settings for name, _ in each.rows}
    alike: dict[tuple[str, ...], list[str]] = {}
    for build, cells in _by_build(header["cells"]).items():
        options = _options(telling_cells(cells, axes), links)
        held = (f"{name} {next(iter(values))}" for name, values in options.items() if len(values) == 1)
        told = tuple(said for said in held if said.partition(" ")[0] not in changed)
        alike.setdefault(told, []).append(build)
    for told, builds in alike.items():
        if told:
            more = [f"and {len(told) - MOST} more: `stepgrid explain` has all"] if len(told) > MOST else []
            yield "all arms" if len(alike) == 1 else f"all of {', '.join(builds)}", "; ".join([*told[:MOST], *more])


def _by_build(cells: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for cell in cells:
        found.setdefault(cell["labels"].get(BUILD, cell["build"]), []).append(cell)
    return found


def _options(cells: Sequence[Mapping[str, Any]], links: Callable[[Sequence[str]], list[Link]]) -> Options:
    found: Options = {}
    for step in (step for cell in cells for link in links(cell["repeats"][0]["stages"]) for step in link.stage.steps):
        for name, option in step.options.items():
            value = input_text.value(option.value, input_text.may_be_size(f"options.{name}"))
            found.setdefault(name, {})[value] = None
    return found
