"""Setup of a report: arms, steps and their settings, defaults of the builds, host and origin, commands."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from stepgrid.build.option_difference import same, shorten_number
from stepgrid.expand.search import shown_settings
from stepgrid.host.facts import ADDRESSES, CLIENT_ALIAS, pseudonym
from stepgrid.model import units
from stepgrid.model.plan import ALPHA, BUILD, FILES, HardwareFacts, Plan, PlannedCell, PlannedStep, is_imported
from stepgrid.model.records import Json, convert_record
from stepgrid.model.table import NOTHING, Table, group, word_table
from stepgrid.model.units import counted
from stepgrid.plan import difference
from stepgrid.plan.difference import ChangedInput, Link, differences
from stepgrid.plugins import registry
from stepgrid.store.plans import Request
from stepgrid.summarize.comparisons.builds import ReportedBuild
from stepgrid.summarize.comparisons.comparison import ComparedMetric
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Place, Tables

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from stepgrid.model.plan import AdaptiveRepeat, PlannedAxis

MOST_INPUTS, MOST_OPTIONS = 12, 24  # inputs of an axis, options of a build that are named
MOST_STEPS, MOST_VALUES = 2, 3  # steps of an option, values of a setting
BRIEF = 10  # steps
EXPLAIN = "`stepgrid explain SPEC` has all"
Facts = Mapping[str, Mapping[str, str]]  # subject -> name -> value
Links = Callable[[Sequence[str]], list[Link]]  # of a chain of stages


class ReportSetup(Struct, frozen=True):
    """Subject of a report: what was run, how often, on what."""

    title: str
    plan: str
    spec: str
    scale: str | None
    axes: tuple[PlannedAxis, ...]
    base: Mapping[str, str]
    metrics: tuple[ComparedMetric, ...]  # that are compared, the leading one first
    loads: tuple[int, int]  # of a cell, the fewest and the most
    runs: int
    effect: float  # the smallest that counts
    until: AdaptiveRepeat | None
    search: str  # the key of points that it adds; empty where it adds none
    hardware: Mapping[str, Json]
    builds: Mapping[str, ReportedBuild]
    measured: tuple[datetime, datetime] | None  # when the first and the last step began
    defaults: Defaults | None = None  # of options that the spec leaves alone
    settings: tuple[ArmSettings, ...] = ()  # of the arms, by axis
    common: tuple[tuple[str, str], ...] = ()  # builds, what all of their arms set
    steps: tuple[ReportedStep, ...] = ()
    plans: Facts = {}  # of statements, by run
    engines: Mapping[str, str] = {}  # by build
    request: Request | None = None  # that it was run by, where it was run here
    imported_loads: int = 0  # of a cell, the most that are of other hosts
    other_hosts: int = 0
    memory: float | None = None  # bytes that a measured step may use
    scale_words: str = ""  # ` (smoke, 2 cores)`, behind the title

    @property
    def metric(self) -> ComparedMetric:
        return self.metrics[0]

    @property
    def alpha(self) -> float:
        return self.until.level if self.until else ALPHA


# Arms: inputs in which the points of an axis differ


class ArmSettings(Struct, frozen=True):
    axis: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # input, its value at each label

    @property
    def table(self) -> Table:
        rows = ((name, *values) for name, values in self.rows[:MOST_INPUTS])
        omitted = len(self.rows) - MOST_INPUTS
        notes = (f"and {omitted} more: {EXPLAIN}",) if omitted > 0 else ()
        return word_table(f"what {self.axis} sets", (self.axis, *self.labels), rows, notes)

    @property
    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield label and settings: gc=sd8k; rocksdb_compaction_sequential_deletes 8191, …"""
        for index, label in enumerate(self.labels):
            settings = [f"{name} {values[index]}" for name, values in self.rows if values[index] != NOTHING]
            yield f"{self.axis}={label}", "; ".join(units.first(settings, MOST_INPUTS))


def arm_settings(cells: Sequence[PlannedCell], axes: Sequence[PlannedAxis], links: Links) -> Iterator[ArmSettings]:
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
            chains = by_build.setdefault(labels.get(BUILD, cell.build), {})
            chains.setdefault(frozenset(labels.items()), {}).setdefault(label, cell.repeats[0].stages)
    return [(build, max(chains.values(), key=len)) for build, chains in by_build.items()]


def _inputs(axis: PlannedAxis, chains: _Chains, links: Links) -> _Inputs:
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


def _changed_inputs(inputs: Sequence[ChangedInput]) -> dict[str, tuple[str, str]]:
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
        builds_by_values = group((inputs[name], build) for build, inputs in by_build.items() if name in inputs)
        for values, builds in builds_by_values.items():
            yield name if len(builds) == len(by_build) else f"{name} ({', '.join(builds)})", values


def common_settings(
    cells: Sequence[PlannedCell], axes: Sequence[PlannedAxis], links: Links, settings: Sequence[ArmSettings]
) -> Iterator[tuple[str, str]]:
    """Yield builds and the options that they all set. `settings`: of the arms, which are left out here."""
    changed = {name.partition(" (")[0] for arms in settings for name, _ in arms.rows}
    by_build = group((cell.labels.get(BUILD, cell.build), cell) for cell in cells)
    steps = {build: list(planned_steps(by_build[build], axes, links)) for build in by_build}
    builds_by_options = group((tuple(_common_options(steps[build], changed)), build) for build in by_build)
    for options, builds in builds_by_options.items():
        if options:
            texts = "; ".join(units.first(options, MOST_OPTIONS, f": {EXPLAIN}"))
            yield "all arms" if len(builds_by_options) == 1 else f"all of {', '.join(builds)}", texts


def _common_options(steps: Sequence[PlannedStep], changed: Set[str]) -> Iterator[str]:
    uses = group(
        (name, (step.name, difference.value_text(option.value, difference.may_be_size(f"options.{name}"))))
        for step in steps
        for name, option in step.options.items()
    )
    number = len({step.name for step in steps})
    for name, pairs in uses.items():
        users, texts = (dict.fromkeys(column) for column in zip(*pairs, strict=True))
        if len(texts) == 1 and name not in changed:
            # an option of the load alone would otherwise be taken for one of what is compared
            few = ", ".join(users) if len(users) <= MOST_STEPS else f"{len(users)} of {number} steps"
            yield f"{name} {next(iter(texts))}{f' ({few})' if len(users) < number else ''}"


# Steps: kind and settings of each, without those that are as usual


class ReportedStep(Struct, frozen=True):
    name: str
    kind: str
    settings: str  # duration 60 s; threads 1, 2 or 4
    meaning: tuple[tuple[str, str], ...] = ()  # of these settings, as the kind describes them


_UNITS = {"duration": " s", "rate": "/s", "percent": " %"}


def step_settings(cells: Sequence[PlannedCell], axes: Sequence[PlannedAxis], links: Links) -> list[ReportedStep]:
    """List the steps in the order in which they run."""
    values: dict[tuple[str, str], dict[str, dict[str, Json]]] = {}
    for step in planned_steps(cells, axes, links):
        settings = values.setdefault((step.name, step.kind), {})
        for name, value in shown_settings(step).items():
            settings.setdefault(name, {})[repr(value)] = value
    steps = []
    for (step_name, kind), settings in values.items():
        plugin = registry.find_driver(kind)
        fields = plugin.settings_model().model_fields if plugin else {}
        of_output = registry.reading_names(kind) if fields else ()  # say nothing of what was run
        texts = {
            name: text
            for name in settings
            if name not in of_output and (text := _setting(name, [*settings[name].values()], fields.get(name)))
        }
        meanings = tuple((name, meaning) for name in texts if name in fields and (meaning := fields[name].description))
        steps.append(ReportedStep(step_name, kind, "; ".join(texts.values()), meanings))
    return steps


def step_table(steps: Sequence[ReportedStep], measured: Mapping[str, Sequence[Point]]) -> Table:
    """Tabulate the steps; `measured`: points by step."""
    rows = ((step.name, step.kind, step.settings, *_time_and_size(measured, step.name)) for step in steps)
    heads = ("step", "kind", "settings", "a run took", "database after it")
    return word_table("what the steps do", heads, rows, _meanings(steps))


def step_sentences(steps: Sequence[ReportedStep], measured: Mapping[str, Sequence[Point]]) -> Iterator[str]:
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
        figures = [spread[0] for point in points if (spread := point.spread())]
        rates = f"{_range(figures, units.short_figure)} QPS" if figures else ""
        if text := ", ".join(filter(None, (_time_and_size(measured, name)[0], rates))):
            texts.append(f"{name}: {text}")
    omitted = [f"{len(texts) - BRIEF} more below"] if len(texts) > BRIEF else []
    sizes = _figures([point for points in measured.values() for point in points], "database_bytes")
    return "; ".join([*texts[:BRIEF], *omitted, *([f"database of {_range(sizes, units.size)}"] if sizes else [])])


def _meanings(steps: Sequence[ReportedStep]) -> Iterator[str]:
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
    return (_range(_figures(points, "seconds"), units.seconds), _range(_figures(points, "database_bytes"), units.size))


def _figures(points: Iterable[Point], metric: str) -> list[float]:
    return [value for point in points for run in point.runs if (value := run.metrics.get(metric))]


def _range(values: Sequence[float], form: Callable[[float], str]) -> str:
    return " to ".join(dict.fromkeys(map(form, (min(values), max(values))))) if values else ""


def planned_steps(cells: Sequence[PlannedCell], axes: Sequence[PlannedAxis], links: Links) -> Iterator[PlannedStep]:
    """Yield the steps of the first cell of each label: all that the axes change is in them."""
    first = {(axis.name, cell.labels.get(axis.name)): cell for cell in reversed(cells) for axis in axes}
    chosen = {cell.id for cell in first.values()} or {cell.id for cell in cells[:1]}
    for cell in cells:
        if cell.id in chosen:
            yield from (step for link in links(cell.repeats[0].stages) for step in link.stage.steps)


_PACE = ("threads", "clients", "loaders", "duration", "rate", "write_rate")  # settings of how, and how long


def declared_work(header: Plan, links: Links, key: Place) -> list[tuple[str, Mapping[str, Json]]]:
    """List what a step and those before it are asked to do, but not how fast: kinds and settings."""
    parents, chain = {stage.id: stage.parent for stage in header.stages}, [key[0]]
    while (parent := parents.get(chain[0])) is not None:
        chain.insert(0, parent)
    stages = [link.stage.steps for link in links(chain)]
    steps = [step for steps in (*stages[:-1], *(steps[: key[1] + 1] for steps in stages[-1:])) for step in steps]
    return [(step.kind, {name: step.settings[name] for name in step.settings if name not in _PACE}) for step in steps]


def _setting(name: str, values: Sequence[Any], field: FieldInfo | None) -> str:
    """Describe a setting that is not the kind's default; files are long, and the page has the commands."""
    usual = field.get_default(call_default_factory=True) if field else None
    values = [value for value in values if value not in (None, [], "")]
    if name == FILES or all(value == usual for value in values):
        return ""
    from stepgrid.plugins.settings import Quantity  # pydantic, which figures of other tools do not need

    kind = next((item.kind for item in (field.metadata if field else ()) if isinstance(item, Quantity)), None)
    is_size = kind in ("size", "rate") if kind else difference.may_be_size(name)
    texts = []
    for value in values[:MOST_VALUES]:
        unit = _UNITS.get(kind or "", "") if units.as_number(value) is not None else ""
        texts.append(f"{difference.value_text(value, is_size)}{unit}")
    omitted = [f"{len(values) - MOST_VALUES} more"] if len(values) > MOST_VALUES else []
    return f"{name} {' or '.join([*texts, *omitted])}"


# Builds: their own defaults, of options that some step leaves to them

LIST = 3  # values between commas
_PLACE = re.compile(r"(^|[\s}])/\w|\{hostname\}")


class Defaults(Struct, frozen=True):
    """A row for each option; the base's default first, None where a build has no such option."""

    base: str
    compared: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str | None, ...]], ...]

    @property
    def table(self) -> Table:
        rows = ((name, *(NOTHING if value is None else value or "empty" for value in row)) for name, row in self.rows)
        return word_table("defaults", ("option", f"{self.base} (base)", *self.compared), rows)

    def changes(self, build: str) -> list[str]:
        """List what differs in a build: `format_version 5 -> 6`."""
        if build not in self.compared:
            return []
        index = self.compared.index(build) + 1
        pairs = ((option, values[0], values[index]) for option, values in self.rows)
        return [f"{name} {_change(old or '', new or '')}" for name, old, new in pairs if _differ(old, new)]

    def groups(self) -> list[tuple[tuple[str, ...], list[str]]]:
        """Group builds that differ from the base in the same way."""
        groups = group((tuple(self.changes(build)), build) for build in self.compared)
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
    plugins = [*map(registry.find_driver, {run.kind for run in tables.runs})]
    reserved = {name for plugin in plugins if plugin for name in plugin.reserved}
    reserved = reserved.union(*(registry.engine(name).reserved for name in engines & {*registry.ENGINES.names()}))
    requested = tables.facts.get("requested", {})
    names = {name for node in nodes for name in catalogues[node]} - reserved
    values = {name: [requested.get(node, {}).get(name) for node in nodes] for name in names}
    return {name for name in names if any(text is None or None in json.loads(text) for text in values[name])}


def _differ(old: str | None, new: str | None) -> bool:
    """Compare defaults: an option that one build lacks has none there, and where files lie is no behaviour."""
    if old is None or new is None or _PLACE.search(f"{old} {new}"):
        return False
    return not same(old, new)


# Host, databases and origin

SIZES = ("memory", "client_memory", "swap_bytes", "free_bytes")
PRIVATE = ("hostname", "client_hostname", *ADDRESSES, CLIENT_ALIAS)  # of no use to a reader elsewhere
_WAYS = {
    "empty": "made by the steps",
    "there": "of a server that ran before, as it was",
    "replay": "made by running the load again",
    "copy": "copied",
    "mixed": "in part copied",
}


def host_line(planned: Mapping[str, Json], hosts: Facts) -> str:
    """Describe the host in a line; `hosts`: by result, what each attempt saw."""
    hardware, facts = convert_record(planned, HardwareFacts), next(iter(hosts.values()), {})
    names = {pseudonym(host["hostname"]) for host in hosts.values() if "hostname" in host}
    described = hardware.described.values()  # under `allow_other_hardware`
    parts = [
        hardware.cpu,
        counted(hardware.cores, "core") if hardware.cores is not None else None,
        units.size(hardware.memory) if hardware.memory is not None else None,
        hardware.storage.title,
        f"kernel {facts['kernel']}" if "kernel" in facts else None,
        f"in place of {', '.join(str(host.get('id', 'the machine of the spec')) for host in described)}"
        if described
        else None,
        f"measured on {len(names)} hosts" if len(names) > 1 else None,
        _clients_text(clients) if (clients := [host for host in hosts.values() if "network_rtt_us" in host]) else None,
    ]
    return ", ".join(part for part in parts if part) or "not recorded"


def _clients_text(hosts: Sequence[Mapping[str, str]]) -> str:
    rtt, speed = (median(float(host[f"network_{name}"]) for host in hosts) for name in ("rtt_us", "bytes_per_s"))
    words = {"true": "TLS", "false": "no TLS"}
    encryption = {words.get(host["client_tls"], "TLS in part") for host in hosts if "client_tls" in host}
    cores, gigabits = counted(int(hosts[0]["client_cores"]), "core"), f"{speed * 8 / 1e9:.2g} Gbit/s"
    return f"clients on another machine ({', '.join([cores, f'{rtt / 1000:.2g} ms', gigabits, *sorted(encryption)])})"


def loading_text(starts: Facts) -> str:
    """Say that engines loaded their own caches before the first step; `starts`: by result. Empty where none did."""
    seconds = [float(facts["loading_s"]) for facts in starts.values() if "loading_s" in facts]
    times = " to ".join(dict.fromkeys(map(units.seconds, (min(seconds), max(seconds))))) if seconds else ""
    number = f"{counted(len(seconds), 'stage')} of {len(starts)}"
    return f"{number} began after the engine had loaded the pages that it listed ({times})" if seconds else ""


def way_text(way: str) -> str:
    return _WAYS.get(way, f"restored by {way}")


def measured_text(setup: ReportSetup, facts: Mapping[str, Facts]) -> str:
    """Write the days, then who signed results of other checkouts."""
    signers = Counter(result.get("signer", "") for result in facts.get("imported", {}).values())
    parts = [f"{counted(signers[name], 'result')} signed by {name}" for name in sorted(signers) if name]
    parts += [f"{counted(signers[''], 'result')} without a verified signature"] if signers[""] else []
    imported = [f"imported: {', '.join(parts)}"] if signers else []
    return "; ".join([days_text(setup.measured) or ("nothing yet" if setup.plan else "time not recorded"), *imported])


def days_text(times: tuple[datetime, datetime] | None, dash: str = " to ") -> str:
    """2026-11-20, or the first and the last day."""
    return dash.join(dict.fromkeys(f"{time:%Y-%m-%d}" for time in times or ()))


# Commands, as somebody would type them beside outputs/


def dropped_options(sections: Collection[StepPoints], facts: Facts) -> list[str]:
    """List options that a binary lacks and the spec let go: `cache_low_pri_pool_ratio (rocksdb-6.11.4)`."""
    runs = [run for section in sections for run in section.runs]
    records = [facts.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}", {}).get("dropped", "[]") for run in runs]
    pairs = ((run, text) for run, text in zip(runs, records, strict=True) if text != "[]")
    builds = group((name, run.build) for run, text in pairs for name in json.loads(text))
    return [f"{name} ({', '.join(dict.fromkeys(names))})" for name, names in builds.items()]


def spec_words(setup: ReportSetup) -> str:
    """Return the words of a command line that name spec, scale, cells and values."""
    return shlex.join(request_of(setup).words())


def request_of(setup: ReportSetup) -> Request:
    """Return the request that a report answers: of a plan that came here with results, its spec and scale."""
    return setup.request or Request(setup.plan if is_imported(setup.spec) else setup.spec, setup.scale)
