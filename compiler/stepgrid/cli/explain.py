"""stepgrid explain SPEC CELL: one cell's settings and options, each with where it comes from."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from stepgrid.cli.shared import spec_arguments
from stepgrid.cli.shared.cell_selection import SelectionError, found
from stepgrid.model.plan import (
    FILES,
    SERVICE,
    Json,
    Option,
    Plan,
    PlannedBuild,
    PlannedCell,
    PlannedStage,
    PlannedStep,
)
from stepgrid.model.units import counted
from stepgrid.plan.difference.input_text import may_be_size, value, yaml
from stepgrid.summarize.formats.text import aligned

Catalogue = Mapping[str, Any] | None


def arguments(parser: argparse.ArgumentParser) -> None:
    spec_arguments.arguments(parser)
    what = "a cell id as in `stepgrid plan SPEC --format json`, or axis=label,… (default: every cell)"
    parser.add_argument("cell", metavar="CELL", nargs="?", help=what)
    parser.add_argument("--step", metavar="NAME", help="only this step")
    what = "also the options that the spec does not set, with the defaults of the build"
    parser.add_argument("--all", action="store_true", help=what)


def run(args: argparse.Namespace) -> int:
    plan = spec_arguments.compiled(args)
    if plan is None:
        return 1
    try:
        cells = plan.cells if args.cell is None else [found(plan, args.cell)]
        print("\n\n".join("\n".join(told(plan, cell, args.step, args.all)) for cell in cells))
    except SelectionError as nothing:
        print(nothing, file=sys.stderr)
        return 2
    return 0


def told(plan: Plan, cell: PlannedCell, name: str | None, every: bool = False) -> Iterator[str]:
    from stepgrid.store.builds import catalogue
    from stepgrid.store.store import Store

    build = next(build for build in plan.builds if build.id == cell.build)
    known = catalogue(Store(), build.id)
    yield from _head(plan, cell, build, known)
    for stage, step in _steps(plan, cell, name):
        yield ""
        yield f"{step.name} ({step.kind}, stage {stage.id})"
        yield from _client(plan, step)
        yield from _service(step, build.where)
        yield from _settings(step)
        yield from _options(step, known)
        if every and known is not None:
            yield from _left_alone(step, build, known)


def _head(plan: Plan, cell: PlannedCell, build: PlannedBuild, known: Catalogue) -> Iterator[str]:
    yield f"{plan.spec}: {' '.join(f'{axis}={label}' for axis, label in cell.labels.items())}"
    yield f"cell {cell.id}, {counted(len(cell.repeats), 'repeat')}; build {_made_of(build)}"
    if known is None:
        yield "the build is not made yet: what it lacks, and its own defaults, cannot be told"


def _client(plan: Plan, step: PlannedStep) -> Iterator[str]:
    yield from (f"  client {_made_of(build)}" for build in plan.builds if build.id == step.client)
    files = {name: str(checksum)[:12] for name, checksum in _files(step)}
    libraries = [name for name in files if ".so" in PurePath(name).suffixes]
    yield from (f"  file {name} {checksum}…" for name, checksum in files.items() if name not in libraries)
    if libraries:
        yield f"  {counted(len(libraries), 'shared object')}"


def _files(step: PlannedStep) -> Iterator[tuple[str, Json]]:
    found = step.setup.get(FILES)
    yield from found.items() if isinstance(found, dict) else ()


def _made_of(build: PlannedBuild) -> str:
    source = ", ".join(f"{key}: {_source(what)}" for key, what in build.source.items())
    return f"{build.id}: {build.engine} {build.version} ({source})"


def _source(said: Json) -> str:
    if isinstance(said, dict):
        return f"{{{', '.join(f'{key}: {_source(what)}' for key, what in said.items())}}}"
    return " ".join(map(_source, said)) if isinstance(said, list) else str(said)


def _steps(plan: Plan, cell: PlannedCell, name: str | None) -> list[tuple[PlannedStage, PlannedStep]]:
    stages = {stage.id: stage for stage in plan.stages}
    chain = [stages[stage] for stage in cell.repeats[0].stages]
    every = [(stage, step) for stage in chain for step in stage.steps]
    chosen = [(stage, step) for stage, step in every if name in (None, step.name)]
    if not chosen:
        from stepgrid.language.problems import nearest

        raise SelectionError(f"the cell has no step `{name}`: {nearest(str(name), [step.name for _, step in every])}")
    return chosen


def _service(step: PlannedStep, where: str) -> Iterator[str]:
    """The words of the server program that the build declares, without its timeouts."""
    from stepgrid.plan.difference.setup_difference import fields

    found = {name: said for name, said in fields(step).items() if name.startswith(f"{SERVICE}.")}
    rows = [(name.removeprefix(f"{SERVICE}."), _words(said), where) for name, said in found.items()]
    yield from setting_lines(SERVICE, rows) if rows else ()


def _words(said: Any) -> str:
    return shlex.join(said) if isinstance(said, list) else value(said, sized=False)


def _settings(step: PlannedStep) -> Iterator[str]:
    settings, places = step.settings.items(), getattr(step.settings, "at", {})
    rows = [(name, yaml(given, may_be_size(name)), places.get(name, "")) for name, given in settings]
    yield from setting_lines(
        "settings", [(name, shown, where or f"default of {step.kind}") for name, shown, where in rows]
    )


def _options(step: PlannedStep, known: Catalogue) -> Iterator[str]:
    rows = [(name, _shown(name, option, known), option.where) for name, option in step.options.items()]
    if rows:
        yield from setting_lines("options", rows)


def _left_alone(step: PlannedStep, build: PlannedBuild, known: Mapping[str, Any]) -> Iterator[str]:
    """What the driver or the runner sets is neither the spec's nor the build's."""
    from stepgrid.plugins.registry import driver, engine

    set_by_us = {*driver(step.kind).reserved, *engine(build.engine).reserved}
    left = sorted(known.keys() - step.options.keys() - set_by_us)
    rows = [(name, str(known[name].get("default", "")) or "empty", "") for name in left]
    if rows:
        yield from setting_lines(f"left to {build.name}: {counted(len(rows), 'option')}", rows)


def _shown(name: str, option: Option, known: Catalogue) -> str:
    sized = may_be_size(f"options.{name}")
    shown = value(option.value, sized)
    if known is None:
        return shown
    if name in known:
        return f"{shown} (default {_default(known[name], sized)})"
    return {
        "drop": f"{shown}: dropped, the build has no such option",
        "cell": f"{shown}: unsupported, the build has no such option",
    }.get(option.unsupported, f"{shown}: an error, the build has no such option")


def _default(info: Mapping[str, Any], sized: bool) -> str:
    text = str(info.get("default", ""))
    return value(int(text), sized) if text.isdecimal() else text or "empty"


# A table of settings for the terminal: values as YAML, wrapped to its width, each with its place.

Row = tuple[str, str, str]  # name, value, place

INDENT, GAP = "    ", 2
NARROWEST = 24  # columns of values that are wrapped
USUAL_WIDTH = 100


def setting_lines(title: str, rows: Iterable[Row]) -> Iterator[str]:
    listed = list(rows)
    names, places = (max(len(row[at]) for row in listed) for at in (0, 2))
    room = shutil.get_terminal_size((USUAL_WIDTH, 24)).columns - len(INDENT) - names - places - 2 * GAP
    yield f"  {title}"
    yield from aligned((line for row in listed for line in _wrapped(row, max(room, NARROWEST))), INDENT)


def _wrapped(row: Row, room: int) -> Iterator[Row]:
    name, text, place = row
    first, *more = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    yield name, first, place
    yield from (("", line, "") for line in more)
