"""stepgrid explain SPEC CELL: one cell's settings and options, each with the line of the spec that sets it."""

from __future__ import annotations

import argparse
import shlex
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from stepgrid.cli.failures import CommandError
from stepgrid.cli.spec_arguments import add_spec, compiled_plan, select_cell
from stepgrid.errors import FINE
from stepgrid.expand.search import shown_settings
from stepgrid.host.terminal_output import wrap
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems, nearest
from stepgrid.language.sources import LISTED_KINDS, release_text, source_key, source_kind
from stepgrid.model.plan import (
    SERVICE,
    Json,
    Option,
    Plan,
    PlannedBuild,
    PlannedCell,
    PlannedStage,
    PlannedStep,
)
from stepgrid.model.records import Catalogue
from stepgrid.model.units import counted, duration
from stepgrid.plan.difference import may_be_size, setup_fields, value_text, yaml_text
from stepgrid.plugins.registry import driver, engine
from stepgrid.store.builds import build_catalogue
from stepgrid.store.store import Store
from stepgrid.summarize.formats import aligned

Row = tuple[str, str, str]  # name, value, line of the spec

INDENT, GAP = "    ", 2
NARROWEST = 24  # columns of values that are wrapped
USUAL_WIDTH = 100


def add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    parser.add_argument(
        "cell",
        metavar="CELL",
        nargs="?",
        help="a cell's id, or labels: cache=lru,threads=1 (all cells)",
    )
    parser.add_argument("--step", metavar="NAME", help="only this step")
    parser.add_argument(
        "--defaults",
        action="store_true",
        help="also the options that the spec does not set, with the defaults of the build",
    )


def run_explain(args: argparse.Namespace) -> int:
    plan = compiled_plan(args)
    cells = plan.cells if args.cell is None else [select_cell(plan, args.cell)]
    print("\n\n".join("\n".join(_cell_lines(plan, cell, args.step, args.defaults)) for cell in cells))
    return FINE


def _cell_lines(plan: Plan, cell: PlannedCell, step_name: str | None, with_defaults: bool) -> Iterator[str]:
    build = next(build for build in plan.builds if build.id == cell.build)
    catalogue = build_catalogue(Store(), build.id)
    yield f"{plan.spec}: {' '.join(f'{axis}={label}' for axis, label in cell.labels.items())}"
    columns = shutil.get_terminal_size((USUAL_WIDTH, 24)).columns
    origin = f"cell {cell.id}, {counted(len(cell.repeats), 'repeat')}; build {_origin(build)}"
    yield from wrap(origin, "", "  ", columns)
    yield from (text for line in _release_lines(plan.spec, build) for text in wrap(line, "", "  ", columns))
    if catalogue is None and not Store().build(build.id).exists():
        yield "the build is not made yet: its defaults and the options that it lacks are unknown"
    for stage, step in _steps(plan, cell, step_name):
        yield ""
        yield f"{step.name} ({step.kind}, stage {stage.id})"
        yield from (f"  client {_origin(client)}" for client in plan.builds if client.id == step.client)
        yield from _timing_lines(step)
        yield from _file_lines(step)
        yield from _service_lines(step, build.where)
        lines = getattr(step.settings, "at", {})
        rows = [
            (name, yaml_text(setting, may_be_size(name)), lines.get(name, "") or f"default of {step.kind}")
            for name, setting in shown_settings(step).items()
        ]
        yield from setting_lines("settings", rows)
        if step.options:
            options = step.options.items()
            by_equal = dict.fromkeys(plan.equal, " by `equal`")
            rows = [
                (name, _option_text(name, option, catalogue), f"{option.where}{by_equal.get(option.where, '')}")
                for name, option in options
            ]
            yield from setting_lines("options", rows)
        if with_defaults and catalogue is not None:
            yield from _default_lines(step, build, catalogue)


def _origin(build: PlannedBuild) -> str:
    source = ", ".join(f"{key}: {_source_text(part)}" for key, part in build.source.items())
    return f"{build.id}: {build.engine} {build.version} ({source})"


def _release_lines(spec: str, build: PlannedBuild) -> Iterator[str]:
    """Say which question for the newest releases chose the version of a build, and where its answer is."""
    lock, kind = lock_file.read(spec, Problems()), source_kind(build.source)
    if kind in LISTED_KINDS:
        name = source_key({kind: build.source[kind]}).removesuffix(release_text(build.source)).rstrip(":")
        for key, releases in lock.versions.items():
            if build.version in releases and key.startswith(name):
                yield f"version {build.version}: {key} ({lock.at[key]})"


def _source_text(source: Json) -> str:
    if isinstance(source, dict):
        return f"{{{', '.join(f'{key}: {_source_text(part)}' for key, part in source.items())}}}"
    return " ".join(map(_source_text, source)) if isinstance(source, list) else str(source)


def _steps(plan: Plan, cell: PlannedCell, name: str | None) -> list[tuple[PlannedStage, PlannedStep]]:
    stages = {stage.id: stage for stage in plan.stages}
    steps = [(stages[stage], step) for stage in cell.repeats[0].stages for step in stages[stage].steps]
    chosen = [(stage, step) for stage, step in steps if name in (None, step.name)]
    if not chosen:
        hint = nearest(str(name), [step.name for _, step in steps])
        raise CommandError(f"the cell has no step `{name}`: {hint}")
    return chosen


def _timing_lines(step: PlannedStep) -> Iterator[str]:
    """Say when a step runs beside another one."""
    if timing := step.setup.timing:
        start = f"{duration(timing.at)} after the {f'end of number {timing.after}' if timing.after else 'start'}"
        period = f", every {duration(timing.period)}" if timing.period else ""
        end = "; stopped when that ends" if timing.stops else ""
        yield f"  number {timing.number} beside {step.name.rpartition('/')[0]}: {start}{period}{end}"


def _file_lines(step: PlannedStep) -> Iterator[str]:
    """List the files of a step with their checksums, and count its shared objects."""
    checksums = {name: checksum[:12] for name, checksum in step.setup.files.items()}
    libraries = [name for name in checksums if ".so" in PurePath(name).suffixes]
    yield from (f"  file {name} {checksum}…" for name, checksum in checksums.items() if name not in libraries)
    if libraries:
        yield f"  {counted(len(libraries), 'shared object')}"


def _service_lines(step: PlannedStep, line: str) -> Iterator[str]:
    """Show the command line of a server program that the build declares, without its timeouts."""
    prefix = f"{SERVICE}."
    rows = [
        (
            name.removeprefix(prefix),
            shlex.join(map(str, part)) if isinstance(part, list) else value_text(part, sized=False),
            line,
        )
        for name, part in setup_fields(step).items()
        if name.startswith(prefix)
    ]
    yield from setting_lines(SERVICE, rows) if rows else ()


def _option_text(name: str, option: Option, catalogue: Catalogue | None) -> str:
    is_size = may_be_size(f"options.{name}")
    text = value_text(option.value, is_size)
    if catalogue is None:
        return text
    if name in catalogue:
        default = catalogue[name].default
        default = value_text(int(default), is_size) if default.isdecimal() else default or "empty"
        return f"{text} (default {default})"
    consequence = {"drop": "dropped", "cell": "unsupported"}.get(option.unsupported, "an error")
    return f"{text}: {consequence}, the build has no such option"


def _default_lines(step: PlannedStep, build: PlannedBuild, catalogue: Catalogue) -> Iterator[str]:
    """List the options that neither the spec, the driver nor the runner sets."""
    reserved = {*driver(step.kind).reserved, *engine(build.engine).reserved}
    names = sorted(catalogue.keys() - step.options.keys() - reserved)
    rows = [(name, catalogue[name].default or "empty", "") for name in names]
    if rows:
        yield from setting_lines(f"defaults of {build.name}: {counted(len(rows), 'option')}", rows)


def setting_lines(title: str, rows: Iterable[Row]) -> Iterator[str]:
    """Align settings with the lines that set them; long values are wrapped to the terminal's width."""
    listed = list(rows)
    name_width, line_width = (max(len(row[index]) for row in listed) for index in (0, 2))
    columns = shutil.get_terminal_size((USUAL_WIDTH, 24)).columns
    value_width = columns - len(INDENT) - name_width - GAP
    is_narrow = value_width - line_width - GAP < NARROWEST  # then a line of the spec stands under its value
    width = max(value_width if is_narrow else value_width - line_width - GAP, NARROWEST)
    yield f"  {title}"
    cells: list[Row] = []
    for name, text, line in listed:
        first, *further = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
        cells += [(name, first, "" if is_narrow else line), *(("", part, "") for part in further)]
        cells += [("", line, "")] if is_narrow and line else []
    yield from aligned(cells, INDENT)
