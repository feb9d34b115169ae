"""Setup of a report: arms and what they set, steps and their settings, defaults of the builds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from stepgrid.build.option_difference import same, shorten_number
from stepgrid.model import units
from stepgrid.model.plan import BUILD, FILES, AdaptiveRepeat, Axis, PlannedCell, PlannedStep
from stepgrid.model.table import NOTHING, Cell, Table, columns
from stepgrid.plan import difference
from stepgrid.plan.difference import Input, Link, differences
from stepgrid.plugins import registry
from stepgrid.plugins.registry import PluginError
from stepgrid.plugins.settings import Quantity
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.comparison import ComparedMetric
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Tables

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

MOST_INPUTS, MOST_OPTIONS = 12, 24  # inputs of an axis, options of a build that are named
MOST_STEPS, MOST_VALUES = 2, 3  # steps of an option, values of a setting
BRIEF = 10  # steps
EXPLAIN = "`stepgrid explain SPEC` has all"
Facts = Mapping[str, Mapping[str, str]]  # subject -> name -> value
Links = Callable[[Sequence[str]], list[Link]]  # of a chain of stages


@dataclass(frozen=True, slots=True)
class Setup:
    """Subject of a report: what was run, how often, on what."""

    title: str
    plan: str
    spec: str
    scale: str | None
    axes: tuple[Axis, ...]
    base: Mapping[str, str]
    metric: ComparedMetric  # that the report leads with
    metrics: tuple[ComparedMetric, ...]  # that are compared, the leading one first
    loads: tuple[int, int]  # of a cell, the fewest and the most
    runs: int
    effect: float  # the smallest that counts
    until: AdaptiveRepeat | None
    hardware: Mapping[str, Any]
    builds: Mapping[str, Build]
    measured: tuple[datetime, datetime] | None  # when the first and the last step began
    units: Mapping[str, str]  # of metrics
    defaults: Defaults | None = None  # of options that the spec leaves alone
    settings: tuple[ArmSettings, ...] = ()  # of the arms, by axis
    common: tuple[tuple[str, str], ...] = ()  # builds, what all of their arms set
    steps: tuple[StepSettings, ...] = ()


# Arms: inputs in which the points of an axis differ


@dataclass(frozen=True, slots=True)
class ArmSettings:
    axis: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # input, its value at each label

    @property
    def table(self) -> Table:
        heads = columns((), (self.axis, *self.labels))
        rows = tuple(tuple(map(Cell, (name, *values))) for name, values in self.rows[:MOST_INPUTS])
        omitted = len(self.rows) - MOST_INPUTS
        notes = (f"and {omitted} more: {EXPLAIN}",) if omitted > 0 else ()
        return Table(f"what {self.axis} sets", heads, rows, notes=notes)

    @property
    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield label and settings: gc=sd8k; rocksdb_compaction_sequential_deletes 8191, …"""
        for index, label in enumerate(self.labels):
            settings = [f"{name} {values[index]}" for name, values in self.rows if values[index] != NOTHING]
            yield f"{self.axis}={label}", "; ".join(_first(settings, MOST_INPUTS))


def arm_settings(cells: Sequence[PlannedCell], axes: Sequence[Axis], links: Links) -> Iterator[ArmSettings]:
    """List the settings of each axis but the builds, which a report has a list of."""
    for axis in axes:
        if axis.name != BUILD and len(axis.labels) > 1:
            by_build = {build: _inputs(axis, chains, links) for build, chains in _chains(cells, axis.name)}
            if rows := [row for row in _joined(by_build) if row[1] != axis.labels]:
                yield ArmSettings(axis.name, axis.labels, tuple(rows))


_Chains = dict[str, Sequence[str]]  # label -> the stages of a cell that has it
_Inputs = dict[str, tuple[str, ...]]  # input -> its value at each label
# changed by a repetition or a version of this program
_NO_SETTINGS = ("load", "run", "checkpoints before it")


def _chains(cells: Sequence[PlannedCell], axis: str) -> list[tuple[str, _Chains]]:
    """Find for each build the cells that differ in this axis alone, where most of its labels are."""
    by_build: dict[str, dict[frozenset[tuple[str, str]], _Chains]] = {}
    for cell in cells:
        labels = dict(cell.labels)
        if label := labels.pop(axis, None):
            groups = by_build.setdefault(labels.get(BUILD, cell.build), {})
            groups.setdefault(frozenset(labels.items()), {}).setdefault(label, cell.repeats[0].stages)
    return [(build, max(groups.values(), key=len)) for build, groups in by_build.items()]


def _inputs(axis: Axis, chains: _Chains, links: Links) -> _Inputs:
    """Compare each label with the first; an input that does not differ from it has its value."""
    labels = [label for label in axis.labels if label in chains]
    first = links(chains[labels[0]])
    changes = {label: _changed_inputs(differences(first, links(chains[label]))) for label in labels[1:]}
    inputs: _Inputs = {}
    for name in dict.fromkeys(name for change in changes.values() for name in change):
        base = next(change[name][0] for change in changes.values() if name in change)
        values = {label: change[name][1] if name in change else base for label, change in changes.items()}
        values[labels[0]] = base
        inputs[name.removeprefix("options.")] = tuple(values.get(label, NOTHING) for label in axis.labels)
    return inputs


def _changed_inputs(inputs: Sequence[Input]) -> dict[str, tuple[str, str]]:
    """Join old and new values of each input, which steps may have several of."""
    sides: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for entry in inputs:
        is_seed = entry.field.startswith("revision of ") or ": seed" in entry.field
        if entry.field not in _NO_SETTINGS and not is_seed:
            for side, value in zip(sides.setdefault(entry.field, ({}, {})), (entry.old, entry.new), strict=True):
                side[difference.value_text(value, difference.may_be_size(entry.field))] = None
    return {field: (", ".join(old), ", ".join(new)) for field, (old, new) in sides.items()}


def _joined(by_build: Mapping[str, _Inputs]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield an input that is the same of all builds once, else with the build."""
    for name in dict.fromkeys(name for inputs in by_build.values() for name in inputs):
        builds_by_values: dict[tuple[str, ...], list[str]] = {}
        for build, inputs in by_build.items():
            if name in inputs:
                builds_by_values.setdefault(inputs[name], []).append(build)
        for values, builds in builds_by_values.items():
            yield name if len(builds) == len(by_build) else f"{name} ({', '.join(builds)})", values


def common_settings(
    cells: Sequence[PlannedCell], axes: Sequence[Axis], links: Links, settings: Sequence[ArmSettings]
) -> Iterator[tuple[str, str]]:
    """Yield builds and the options that they all set. `settings`: of the arms, which are left out here."""
    changed = {name.partition(" (")[0] for arms in settings for name, _ in arms.rows}
    by_build: dict[str, list[PlannedCell]] = {}
    for cell in cells:
        by_build.setdefault(cell.labels.get(BUILD, cell.build), []).append(cell)
    builds_by_options: dict[tuple[str, ...], list[str]] = {}
    for build, build_cells in by_build.items():
        steps = list(_steps(_representative_cells(build_cells, axes), links))
        builds_by_options.setdefault(tuple(_common_options(steps, changed)), []).append(build)
    for options, builds in builds_by_options.items():
        if options:
            texts = "; ".join(_first(options, MOST_OPTIONS, f": {EXPLAIN}"))
            yield "all arms" if len(builds_by_options) == 1 else f"all of {', '.join(builds)}", texts


def _common_options(steps: Sequence[PlannedStep], changed: Set[str]) -> Iterator[str]:
    values: dict[str, dict[str, None]] = {}
    users: dict[str, dict[str, None]] = {}
    for step in steps:
        for name, option in step.options.items():
            text = difference.value_text(option.value, difference.may_be_size(f"options.{name}"))
            values.setdefault(name, {})[text] = None
            users.setdefault(name, {})[step.name] = None
    number = len({step.name for step in steps})
    for name, texts in values.items():
        if len(texts) == 1 and name not in changed:
            # an option of the load alone would otherwise be taken for one of what is compared
            few = ", ".join(users[name]) if len(users[name]) <= MOST_STEPS else f"{len(users[name])} of {number} steps"
            yield f"{name} {next(iter(texts))}{f' ({few})' if len(users[name]) < number else ''}"


def _first(texts: Sequence[str], most: int, hint: str = "") -> list[str]:
    omitted = len(texts) - most
    return [*texts[:most], *([f"and {omitted} more{hint}"] if omitted > 0 else [])]


# Steps: kind and settings of each, without those that are as usual


@dataclass(frozen=True, slots=True)
class StepSettings:
    name: str
    kind: str
    settings: str  # duration 60 s; threads 1, 2 or 4
    meaning: tuple[tuple[str, str], ...] = ()  # of these settings, as the kind describes them


_UNITS = {"duration": " s", "rate": "/s", "percent": " %"}


def step_settings(cells: Sequence[PlannedCell], axes: Sequence[Axis], links: Links) -> list[StepSettings]:
    """List the steps in the order in which they run."""
    values: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for step in _steps(_representative_cells(cells, axes), links):
        settings = values.setdefault((step.name, step.kind), {})
        for name, value in step.settings.items():
            settings.setdefault(name, {})[repr(value)] = value
    steps = []
    for (step_name, kind), settings in values.items():
        fields = _fields(kind)
        of_output = registry.reading_names(kind) if fields else ()  # say nothing of what was run
        texts = {
            name: text
            for name in settings
            if name not in of_output and (text := _setting(name, [*settings[name].values()], fields.get(name)))
        }
        meaning = ((name, fields[name].description) for name in texts if name in fields)
        meanings = tuple((name, text) for name, text in meaning if text)
        steps.append(StepSettings(step_name, kind, "; ".join(texts.values()), meanings))
    return steps


def step_table(steps: Sequence[StepSettings], measured: Mapping[str, Sequence[Point]]) -> Table:
    """Tabulate the steps; `measured`: points by step."""
    rows = (
        tuple(map(Cell, (step.name, step.kind, step.settings, *_time_and_size(measured, step.name)))) for step in steps
    )
    heads = columns((), ("step", "kind", "settings", "a run took", "database after it"))
    return Table("what the steps do", heads, tuple(rows), notes=tuple(_meanings(steps)))


def step_sentences(steps: Sequence[StepSettings], measured: Mapping[str, Sequence[Point]]) -> Iterator[str]:
    for step in steps:
        time, size = _time_and_size(measured, step.name)
        settings = f"{step.name} ({step.kind}){f': {step.settings}' if step.settings else ''}"
        parts = (settings, f"a run took {time}" if time else "", f"database after it {size}" if size else "")
        yield "; ".join(filter(None, parts))
    yield from _meanings(steps)


def steps_in_brief(measured: Mapping[str, Sequence[Point]]) -> str:
    """Return `load: 1.92 s to 3.08 s, 465,975 to 473,043 QPS; …; database of 118 MiB to 301.4 MiB`."""
    texts = []
    for name, points in measured.items():
        medians = [spread[0] for point in points if (spread := point.spread())]
        rates = f"{_range(medians, units.rate)} QPS" if medians else ""
        if text := ", ".join(filter(None, (_time_and_size(measured, name)[0], rates))):
            texts.append(f"{name}: {text}")
    omitted = [f"{len(texts) - BRIEF} more below"] if len(texts) > BRIEF else []
    sizes = _figures([point for points in measured.values() for point in points], "database_bytes")
    return "; ".join([*texts[:BRIEF], *omitted, *([f"database of {_range(sizes, units.size)}"] if sizes else [])])


def _meanings(steps: Sequence[StepSettings]) -> Iterator[str]:
    """Explain the settings of each kind once."""
    kinds: dict[str, dict[str, str]] = {}
    for step in steps:
        kinds.setdefault(step.kind, {}).update(step.meaning)
    for kind, meanings in kinds.items():
        if meanings:
            yield f"{kind}: {'; '.join(f'`{name}`: {text}' for name, text in meanings.items())}"


def _time_and_size(measured: Mapping[str, Sequence[Point]], step: str) -> tuple[str, str]:
    """Return seconds and bytes; nothing of a step that is not measured."""
    points = measured.get(step, ())
    return (
        _range(_figures(points, "seconds"), units.seconds),
        _range(_figures(points, "database_bytes"), units.size),
    )


def _figures(points: Iterable[Point], metric: str) -> list[float]:
    return [value for point in points for run in point.runs if (value := run.metrics.get(metric))]


def _range(values: Sequence[float], form: Callable[[float], str]) -> str:
    return " to ".join(dict.fromkeys(map(form, (min(values), max(values))))) if values else ""


def _representative_cells(cells: Sequence[PlannedCell], axes: Sequence[Axis]) -> list[PlannedCell]:
    """Choose the first cell of each label: all that the axes change is in them."""
    first = {(axis.name, cell.labels.get(axis.name)): cell for cell in reversed(cells) for axis in axes}
    chosen = {cell.id for cell in first.values()} or {cell.id for cell in cells[:1]}
    return [cell for cell in cells if cell.id in chosen]


def _steps(cells: Iterable[PlannedCell], links: Links) -> Iterator[PlannedStep]:
    return (step for cell in cells for link in links(cell.repeats[0].stages) for step in link.stage.steps)


def _setting(name: str, values: Sequence[Any], field: FieldInfo | None) -> str:
    """Describe a setting that is not the kind's default; files are long, and the page has the commands."""
    usual = field.get_default(call_default_factory=True) if field else None
    values = [value for value in values if value not in (None, [], "")]
    if name == FILES or all(value == usual for value in values):
        return ""
    kind = next((item.kind for item in (field.metadata if field else ()) if isinstance(item, Quantity)), None)
    is_size = kind in ("size", "rate") if kind else difference.may_be_size(name)
    texts = []
    for value in values[:MOST_VALUES]:
        unit = _UNITS.get(kind or "", "") if isinstance(value, int | float) else ""
        texts.append(f"{difference.value_text(value, is_size)}{unit}")
    omitted = [f"{len(values) - MOST_VALUES} more"] if len(values) > MOST_VALUES else []
    return f"{name} {' or '.join([*texts, *omitted])}"


def _fields(kind: str) -> Mapping[str, FieldInfo]:
    try:
        return registry.driver(kind).settings_model().model_fields
    except PluginError:  # it is not installed here
        return {}


# Builds: their own defaults, of options that some step leaves to them

LIST = 3  # values between commas
_PLACE = re.compile(r"(^|[\s}])/\w|\{hostname\}")


@dataclass(frozen=True, slots=True)
class Defaults:
    """A row for each option; the base's default first, None where a build has no such option."""

    base: str
    compared: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str | None, ...]], ...]

    @property
    def table(self) -> Table:
        heads = columns((), ("option", f"{self.base} (base)", *self.compared))
        texts = ((name, *(NOTHING if value is None else value or "empty" for value in row)) for name, row in self.rows)
        return Table("defaults", heads, tuple(tuple(map(Cell, row)) for row in texts))

    def changes(self, build: str) -> list[str]:
        """List what differs in a build: `format_version 5 -> 6`."""
        if build not in self.compared:
            return []
        index = self.compared.index(build) + 1
        pairs = ((option, values[0], values[index]) for option, values in self.rows)
        return [f"{name} {_change(old or '', new or '')}" for name, old, new in pairs if _differ(old, new)]

    def groups(self) -> list[tuple[tuple[str, ...], list[str]]]:
        """Group builds that differ from the base in the same way."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for build in self.compared:
            groups.setdefault(tuple(self.changes(build)), []).append(build)
        return [(tuple(builds), list(changes)) for changes, builds in groups.items() if changes]


def defaults(tables: Tables, builds: Sequence[str], base: str | None) -> Defaults | None:
    """Compare the builds of the base's engine; `builds`: the labels of the axis. None where no default differs."""
    catalogues: Facts = tables.facts.get("default", {})
    engines = {node: facts.get("engine") for node, facts in tables.facts.get("build", {}).items()}
    ids = {run.build: run.build_id for run in tables.runs if run.build_id in catalogues}
    first = base if base is not None else next(iter(builds), None)
    if first is None or first not in ids:
        return None
    compared = tuple(
        build
        for build in builds
        if build in ids and ids[build] != ids[first] and engines.get(ids[build]) == engines.get(ids[first])
    )
    nodes = [ids[build] for build in (first, *compared)]
    rows = []
    for name in sorted(_unset_options(nodes, catalogues, tables)):
        texts = [catalogues[node].get(name) for node in nodes]
        values = tuple(None if text is None else shorten_number(text) for text in texts)
        if any(_differ(values[0], value) for value in values[1:]):
            rows.append((name, values))
    return Defaults(first, compared, tuple(rows)) if rows else None


def _change(old: str, new: str) -> str:
    """5 -> 6; of long lists what went and what came: -skip_scan=off +skip_scan=on"""
    before, after = old.split(","), new.split(",")
    if min(len(before), len(after)) < LIST:
        return f"{old or 'empty'} -> {new or 'empty'}"
    removed = [f"-{value}" for value in before if value not in after]
    added = [f"+{value}" for value in after if value not in before]
    return " ".join((*removed, *added)) or "in another order"


def _unset_options(nodes: Sequence[str], catalogues: Facts, tables: Tables) -> set[str]:
    """List options that some step of some build leaves alone, and no driver or engine sets."""
    engines = {facts["engine"] for facts in tables.facts.get("build", {}).values() if "engine" in facts}
    reserved = {name for kind in {run.kind for run in tables.runs} for name in registry.driver(kind).reserved}
    reserved = reserved.union(*(registry.engine(name).reserved for name in engines))
    requested = tables.facts.get("requested", {})
    names = {name for node in nodes for name in catalogues[node]} - reserved
    values = {name: [requested.get(node, {}).get(name) for node in nodes] for name in names}
    return {name for name in names if any(text is None or None in json.loads(text) for text in values[name])}


def _differ(old: str | None, new: str | None) -> bool:
    """Compare defaults: an option that one build lacks has none there, and where files lie is no behaviour."""
    if old is None or new is None or _PLACE.search(f"{old} {new}"):
        return False
    return not same(old, new)
