"""Steps of a spec: uses joined with definitions, live grids and repetitions written out, checkpoints between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from math import prod
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from stepgrid.expand.axes import RESERVED, Axis
from stepgrid.expand.definitions import ResolvedDefinitions
from stepgrid.expand.search import AxisSearch, Chosen, RateShare, is_setting, parse_objective, placeholder, rate_target
from stepgrid.language.expressions import ExpressionError
from stepgrid.language.models import SpecSearch, SpecShare, SpecStep
from stepgrid.language.problems import Location, Problems, nearest, nearest_name
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map, Text, key_location, width
from stepgrid.model import units
from stepgrid.model.records import Json, Timing, replace
from stepgrid.plugins.collector import OwnMetrics
from stepgrid.plugins.driver import Placeholders, ServerRestarts, Waiting
from stepgrid.plugins.registry import DRIVERS, driver, reading_names

FORMS = ("use", "name", "checkpoint")
UNKNOWN = ""  # the name of what could not be read
_ATTRIBUTES = {"for": "for_", "beside": "companions"}  # by keys


class StepEntry(Struct, frozen=True):
    """A step of the list, from its definition and its use (nearest last)."""

    name: str
    kind: str
    position: int
    where: Location
    links: tuple[SpecStep, ...]
    options: tuple[Any, ...]  # of all links, nearest last
    base: str = ""  # the name without what `times` and `for` add to it
    table_name: str = ""  # the name in tables, where the variables of a live grid have columns of their own
    variables: Mapping[str, Text] = {}  # of a live grid
    search: Chosen | None = None  # how its value is chosen when it runs
    search_at: Location | None = None  # of the search's objective, or of the step whose rate is shared
    companions: tuple[StepEntry, ...] = ()  # that run beside it
    timing: Timing | None = None  # of one that runs beside another
    cpus: Text | None = None  # of a companion
    main_whens: tuple[Text, ...] = ()  # of the step that it runs beside

    @property
    def whens(self) -> tuple[Text, ...]:
        return (*self.main_whens, *(link.when for link in self.links if link.when is not None))

    def flag(self, field: str, default: bool) -> bool:
        value = _nearest_value(self.links, field)
        return default if value is None else bool(value)

    @property
    def is_to_be_steady(self) -> bool:
        return bool(_nearest_value(self.links, "until") == STEADY)

    @property
    def expects(self) -> tuple[Text, ...]:
        return _nearest_value(self.links, "expects") or ()


class Checkpoint(NamedTuple):
    """The end of a stage; without a name it stands for an entry that could not be read."""

    name: str
    position: int
    where: Location
    expects: tuple[Text, ...] = ()  # of the database there


def resolve(document: Document, defined: ResolvedDefinitions, problems: Problems) -> list[StepEntry | Checkpoint]:
    """List all steps and checkpoints in the order they run."""
    name = document.spec.workload
    if name is not None and name not in defined.workloads:
        problems.undefined("workload", name, name.where, defined.workloads)
    workload = None if name is None else defined.workloads.get(name)
    steps = document.spec.steps if document.spec.steps is not None else workload
    if not steps:
        if steps is not None or name is None:
            _report_no_steps(document, problems)
        return []
    by_name = {str(step.name): step for step in workload or () if step.name is not None}
    reader = _EntryReader(document, None if workload is None and name is not None else by_name, problems)
    entries = [reader.read(step, position) for position, step in enumerate(steps)]
    _check_checkpoints(entries, problems)
    parts = [
        part for entry in entries for part in (_write_out(entry, problems) if isinstance(entry, StepEntry) else [entry])
    ]
    return [*_find_maxima(parts, problems)]


def _report_no_steps(document: Document, problems: Problems) -> None:
    nodes = document.nodes
    if "steps" in nodes:
        problems.add("no-steps", nodes.at["steps"], "`steps` is empty", "without the key it is the whole workload", 5)
    elif "steps" not in nodes.at:  # else they were of a wrong type, which is reported
        problems.add("no-steps", nodes.where, "the spec has no steps", "give `workload:` or `steps:`, or both")


def _check_checkpoints(entries: Sequence[StepEntry | Checkpoint], problems: Problems) -> None:
    seen_at: dict[str, Location] = {}
    if entries and isinstance(first := entries[0], Checkpoint) and first.name:  # else it could not be read
        message = f"there is no step before checkpoint `{first.name}`: its database is empty, and no load is shared"
        problems.add("checkpoint-empty", first.where, message, "put it after the step that loads", len(first.name))
    for name, _, where, _ in (entry for entry in entries if isinstance(entry, Checkpoint)):
        if name in seen_at:
            message, hint = f"two checkpoints are named `{name}`", f"first at {seen_at[name]}"
            problems.add("defined-twice", where, message, hint, len(name))
        elif name:
            seen_at[name] = where


def _nearest_value(links: Sequence[SpecStep], field: str) -> Any:
    return next((value for link in reversed(links) if (value := getattr(link, field)) is not None), None)


class _EntryReader:
    """Reads the entries of `steps`; `workload` is None if it is undefined, so that its steps are unknown."""

    def __init__(self, document: Document, workload: Mapping[str, SpecStep] | None, problems: Problems) -> None:
        self._document, self._workload, self._problems = document, workload, problems

    def read(self, step: SpecStep, position: int) -> StepEntry | Checkpoint:
        where = step.where or self._document.nodes.where
        forms = {key: name for key in FORMS if (name := getattr(step, key)) is not None}
        unknown = Checkpoint(UNKNOWN, position, where)
        if len(forms) != 1:
            self._report_form(step, forms, where)
            return unknown
        (name,) = forms.values()
        if step.checkpoint is not None:
            self._check_checkpoint_keys(step, name)
            return Checkpoint(str(name), position, name.where, step.expects or ())
        links: tuple[SpecStep, ...] = (step,)
        if step.use is not None:
            use = None if self._workload is None else self._workload_name(step.use, self._workload)
            if use is None or self._workload is None:
                return unknown
            links, name = (self._workload[use], step), Text(use, name.where)
        kind = self._kind(links, name)
        if kind is None:
            return unknown
        options = tuple(layer for link in links for layer in link.options)
        label = str(step.as_ or name)
        entry = StepEntry(label, kind, position, name.where, links, options, label, label)
        return replace(entry, companions=self._companions(entry))

    def _companions(self, entry: StepEntry) -> tuple[StepEntry, ...]:
        """Read the steps that run beside a step, in the order of the spec; those with faults are reported."""
        companions: list[StepEntry] = []
        for number, step in enumerate(_nearest_value(entry.links, "companions") or (), 1):
            companion = self.read(step, entry.position)
            if isinstance(companion, Checkpoint):
                if companion.name:
                    self._report_beside(companion.where, "a checkpoint is a place between steps: none is beside one")
                continue
            self._check_companion(entry, companion)
            after = self._companion_number(step.after, companions) if step.after is not None else 0
            timing = Timing(number=number, at=step.at, period=step.period, after=after, stops=not step.wait)
            companions.append(replace(companion, timing=timing, cpus=step.cpus))
        return tuple(companions)

    def _check_companion(self, entry: StepEntry, companion: StepEntry) -> None:
        for key in ("beside", "for", "times", "until", "warmup"):
            link = next(
                (link for link in companion.links if getattr(link, _ATTRIBUTES.get(key, key)) is not None), None
            )
            if link is not None:
                where = link.key_location(key, companion.where)
                self._report_beside(where, f"`{companion.name}` runs beside `{entry.name}`: it takes no `{key}`", key)
        for step, role in ((companion, "runs beside no other step"), (entry, "has no other step beside it")):
            if isinstance(driver(step.kind), ServerRestarts | Waiting):
                self._report_beside(companion.where, f"a step of kind {step.kind} {role}", companion.name)

    def _companion_number(self, name: Text, companions: Sequence[StepEntry]) -> int:
        timings = {entry.name: entry.timing for entry in companions}
        timing = timings.get(str(name))
        if timing is None:
            hint = nearest(name, timings) if timings else "it is the first of its list"
            self._problems.add("undefined-name", name.where, f"no step beside, above it, is `{name}`", hint, len(name))
        elif timing.period is not None:
            self._report_beside(name.where, f"`{name}` runs again and again: nothing is after it", name)
        return timing.number if timing else 0

    def _report_beside(self, where: Location, message: str, quoted: str = "") -> None:
        self._problems.add("beside-form", where, message, width=len(quoted) or 1)

    def _report_form(self, step: SpecStep, forms: Mapping[str, Text], where: Location) -> None:
        for key in step.model_extra or {}:
            if get_close_matches(key, FORMS, n=1):
                key_at = step.key_location(key, where)
                self._problems.add("unknown-key", key_at, f"`{key}` is not a key here", nearest(key, FORMS), len(key))
                return
        if not (step.model_fields_set or step.model_extra) and self._problems.errors:
            return  # its one key had no value, which is reported
        hint = ""
        if forms:
            where = next(iter(forms.values())).where
            hint = f"not both: {' and '.join(f'`{key}`' for key in forms)}"
        self._problems.add("step-form", where, "a step has one of `use`, `name` and `checkpoint`", hint)

    def _check_checkpoint_keys(self, step: SpecStep, name: Text) -> None:
        for attribute in sorted({*step.model_fields_set, *(step.model_extra or {})} - {"checkpoint", "expects"}):
            key = attribute.rstrip("_")
            message, where = f"a checkpoint takes no `{key}`", step.key_location(key, name.where)
            self._problems.add("unknown-key", where, message, "it is a place between steps", len(key))

    def _workload_name(self, use: Text, workload: Mapping[str, SpecStep]) -> str | None:
        """Find a step of the workload; a misspelt one stands for the nearest, so that more faults are found."""
        if use in workload:
            return str(use)
        message, hint = f"the workload has no step `{use}`", nearest(use, workload)
        if self._document.spec.workload is None:
            message, hint = f"there is no workload to take the step `{use}` from", "give `workload: NAME`"
        self._problems.add("undefined-name", use.where, message, hint, len(use))
        name = nearest_name(use, sorted(workload))
        return None if name in {step.use for step in self._document.spec.steps or ()} else name

    def _kind(self, links: Sequence[SpecStep], name: Text) -> str | None:
        """Find the kind of a step; a misspelt one stands for the nearest, so that more faults are found."""
        kind: Text | None = _nearest_value(links, "kind")
        if kind is None:
            hint = nearest("", DRIVERS.names())
            self._problems.add("missing-key", name.where, f"step `{name}` has no `kind`", hint, width(name))
            return None
        if kind in DRIVERS.names():
            return str(kind)
        message, hint, length = DRIVERS.unknown(kind)
        is_misspelt = hint.endswith("?")
        hint = hint if is_misspelt else f"`kind: command` runs any program; {hint}"
        self._problems.add("undefined-name", kind.where, message, hint, length)
        return hint.split("`")[1] if is_misspelt else None


# Live grids, repetitions and warm-ups

MOST_STEPS = 1000  # that one entry may stand for
DURATION, WARMUP, STEADY = "duration", "warmup", "steady"

Values: TypeAlias = Mapping[str, Sequence[Text]]  # variable of a live grid -> its values


def _write_out(entry: StepEntry, problems: Problems) -> Iterator[StepEntry | Checkpoint]:
    """List what one entry stands for, in the order it runs."""
    variables: Mapping[str, Any] = _nearest_value(entry.links, "for_") or {}
    chosen = {
        name: points
        for name, model in variables.items()
        if isinstance(model, SpecSearch | SpecShare) and (points := _read_points(name, model, problems))
    }
    values = {
        name: [*chosen[name]] if name in chosen else value
        for name, value in variables.items()
        if name in chosen or not isinstance(value, SpecSearch | SpecShare)  # one with a fault has no points
    }
    if len(chosen) > 1:
        message = f"step `{entry.name}` searches on {len(chosen)} axes: one at a time"
        problems.add("search-form", entry.where, message, "give the others values", len(entry.name))
    times = _nearest_value(entry.links, "times") or 0
    if not _is_sound(entry, values, max(times, 1), problems):
        yield Checkpoint(UNKNOWN, entry.position, entry.where)
        return
    warmup = _warmup(entry, problems)
    for combination in product(*(dict.fromkeys(texts) for texts in values.values())):
        bound = _bind(entry, dict(zip(values, combination, strict=True)), chosen)
        for ending in [f".{number + 1}" for number in range(times)] or [""]:
            step = replace(bound, name=bound.name + ending, table_name=bound.base + ending)
            if warmup is not None:
                yield _warming_step(step, warmup)
            yield step
            yield from _companions_of(step)


def _companions_of(step: StepEntry) -> Iterator[StepEntry]:
    """Name what runs beside a step, which is measured where that is, and there wherever that is."""
    unmeasured = SpecStep.model_validate({"measured": Text("false", step.where)})
    for companion in step.companions:
        name = companion.name
        yield replace(
            companion,
            name=f"{step.name}/{name}",
            base=f"{step.base}/{name}",
            table_name=f"{step.table_name}/{name}",
            links=companion.links if step.flag("measured", True) else (*companion.links, unmeasured),
            variables=step.variables,
            main_whens=step.whens,
        )


def _is_sound(entry: StepEntry, values: Values, times: int, problems: Problems) -> bool:
    count = prod(len(texts) for texts in values.values()) * times
    if count > MOST_STEPS:
        message = f"step `{entry.name}` would be {count:,} steps: more than {MOST_STEPS:,}"
        problems.add("too-large", entry.where, message, "`for` has a step for each combination", len(entry.name))
        return False
    for link in entry.links:
        _check_variables(link, entry.where, values, problems)
    for texts in values.values():
        for position, text in enumerate(texts):
            if text in texts[:position]:
                problems.add("point-twice", text.where, f"the value `{text}` is given twice", width=len(text))
    return all(values.values()) and not RESERVED & values.keys()


def _check_variables(link: SpecStep, entry_at: Location, values: Values, problems: Problems) -> None:
    nodes = link.node("for")
    settings = {**link.params, **(link.model_extra or {})}
    for name in link.for_ or {}:
        where = nodes.at.get(name, entry_at) if isinstance(nodes, Map) else entry_at
        if not values.get(name, True):
            problems.add("empty-axis", where, f"`for` has no values of `{name}`", width=len(name))
        if name in RESERVED:
            message = f"`{name}` means something else in expressions"
            problems.add("reserved-name", where, message, "choose another name for the variable", len(name))
        if name in settings:
            message = f"`{name}` is a variable of `for`, and given beside it"
            problems.add("not-both", key_location(settings[name], where), message, "keep one", len(name))


def _bind(entry: StepEntry, variables: Mapping[str, Text], chosen: Mapping[str, Mapping[Text, Chosen]]) -> StepEntry:
    """Make the step of one combination; a point whose value is chosen has the lowest one until then."""
    if not variables:
        return entry
    name = f"{entry.name}[{','.join(f'{variable}={value}' for variable, value in variables.items())}]"
    settings = {variable: value for variable, value in variables.items() if variable not in chosen}
    bound = replace(entry, name=name, variables=variables, links=(*entry.links, SpecStep.model_validate(settings)))
    plugin = driver(entry.kind)
    for variable, points in chosen.items():
        point = variables[variable]
        search = points[point]
        # of one that is put into the words of a command, nothing stands for the value until it is chosen
        in_words = isinstance(plugin, Placeholders) and search.param not in plugin.settings_model().model_fields
        link = SpecStep.model_validate({} if in_words else {search.param: Text(str(search.least), point.where)})
        bound = replace(bound, search=search, search_at=point.where, links=(*bound.links, link))
    return bound


def _warmup(entry: StepEntry, problems: Problems) -> Text | None:
    """Find how long each run is warmed up for."""
    link = next((link for link in reversed(entry.links) if link.warmup is not None), None)
    node = link.node(WARMUP) if link is not None else None
    if not isinstance(node, Text):
        return None
    if DURATION not in driver(entry.kind).settings_model().model_fields:
        message = f"a step of kind {entry.kind} has no `duration`, so no `{WARMUP}`"
        problems.add("unknown-setting", key_location(node, node.where), message, width=len(WARMUP))
        return None
    return node


def _warming_step(step: StepEntry, duration: Text) -> StepEntry:
    """Make the same step, not measured: the measured one after it finds what it has done, and nothing else."""
    changes = {DURATION: duration, "measured": Text("false", duration.where), "expects": (), "until": DURATION}
    link = SpecStep.model_validate(changes)
    name, base = f"{step.name}.{WARMUP}", f"{step.base}.{WARMUP}"
    return replace(step, name=name, base=base, table_name=f"{step.table_name}.{WARMUP}", links=(*step.links, link))


def check_until(entry: StepEntry, settings: Mapping[str, Json], problems: Problems) -> None:
    """Check that a step which is to become steady says how long it may take; how short that is may be of a scale."""
    link = next((link for link in reversed(entry.links) if link.until is not None), None)
    if link is None or not entry.is_to_be_steady:
        return
    where = link.key_location("until", entry.where)
    if isinstance(entry.search, AxisSearch) and entry.search.limit:
        message = f"step `{entry.base}`: `until: steady` beside a search `{entry.search.objective}`"
        hint = "a limit is no rate that becomes steady: leave one out, or ask for `steady_qps` in the search"
        problems.add("not-both", where, message, hint, len("until"))
    elif not settings.get(DURATION):
        message = f"step `{entry.name}`: `until: steady` needs the longest time as `{DURATION}`"
        if DURATION not in driver(entry.kind).settings_model().model_fields:
            message = f"a step of kind {entry.kind} has no `{DURATION}`, so no `until: steady`"
        problems.add("missing-setting", where, message, width=len("until"))


# Searches on a live grid: each stands for a number of steps whose value is chosen while they run

LEAST_POINTS, MOST_PERCENT = 4, 200
RATE = "rate"
PACE = (RATE, "arrivals", "clients", "threads", "duration", "timeout", "latency_limit", "argv")


def _read_points(variable: str, model: SpecSearch | SpecShare, problems: Problems) -> Mapping[Text, Chosen]:
    """Read the points of a variable whose values are chosen, by their labels; none of one with a fault."""
    if isinstance(model, SpecShare):
        points = []
        for text in model.percent:
            percent = units.number(str(text)) or 0
            if not 0 < percent <= MOST_PERCENT:
                message = f"`percent: {text}` is no share of a rate"
                problems.add("rate-share", text.where, message, f"a number above 0, at most {MOST_PERCENT}", len(text))
                return {}
            points.append(RateShare(variable, str(model.param or variable), float(percent), model.of))
        return {Text(point.label, model.of.where): point for point in points}
    search = _read_search(variable, model, problems)
    if search is None:
        return {}
    numbers = range(1, search.points + 1)
    return {Text(f"#{number}", model.for_.where): replace(search, number=number) for number in numbers}


def _find_maxima(parts: Sequence[StepEntry | Checkpoint], problems: Problems) -> Iterator[StepEntry | Checkpoint]:
    """Name the step that each rate is a share of: one before it in its stage, with its values of a live grid."""
    is_complete = all(part.name for part in parts)
    stage: list[StepEntry] = []
    for part in parts:
        if isinstance(part, Checkpoint):
            stage = []
        elif isinstance(part.search, RateShare) and part.search_at is not None:
            of, where = part.search.of, part.search_at
            names = [
                step.name
                for step in stage
                if of == step.name or (of == step.table_name and step.variables.items() <= part.variables.items())
            ]
            if not names and is_complete:
                message = f"no step before `{part.base}` in its stage is `{of}`"
                names_before = [step.name for step in stage if step.search is None]
                hint = nearest(of, names_before) if names_before else "the maximum is measured after the checkpoint"
                problems.add("undefined-name", where, message, hint, len(of))
            share = replace(part.search, of=names[-1]) if names else part.search
            part = replace(part, search=share, search_at=where if names else None)
        if isinstance(part, StepEntry) and part.timing is None and not part.name.endswith(f".{WARMUP}"):
            stage.append(part)
        yield part


def _read_search(variable: str, model: SpecSearch, problems: Problems) -> AxisSearch | None:
    """Read a search; None if it has a fault, which is reported."""
    low, high = (units.number(str(end)) for end in model.search)
    where, text = model.search[0].where, model.for_
    if not isinstance(low, int) or not isinstance(high, int) or not 0 < low < high:
        message = f"`search: [{model.search[0]}, {model.search[1]}]` is no range"
        problems.add("search-form", where, message, "from a whole number above 0 to a larger one")
        return None
    if model.points < LEAST_POINTS:
        message = f"`points: {model.points}` are too few to search with"
        problems.add("search-form", where, message, f"at least {LEAST_POINTS}")
        return None
    try:
        objective = parse_objective(str(text))
    except ExpressionError as error:
        problems.add("search-form", text.where, str(error), error.hint, len(text))
        return None
    if objective.name == variable and not objective.condition:
        message = f"`max {variable}` is always the end of its range"
        problems.add("search-form", text.where, message, f"add a condition: `max {variable} where …`", len(text))
        return None
    return AxisSearch(variable, str(model.param or variable), low, high, str(text), model.points)


def check_search(entry: StepEntry, settings: Mapping[str, Json], problems: Problems) -> None:
    """Check the metrics and the setting that a search names."""
    search, where = entry.search, entry.search_at
    if not isinstance(search, AxisSearch) or where is None:
        return
    from stepgrid.plugins import metrics  # of all plug-ins: most specs search nothing

    plugin = driver(entry.kind)
    own_names = plugin.own_metrics(settings) if isinstance(plugin, OwnMetrics) else {}
    names = {*metrics.METRICS, *own_names, search.variable}
    for name in sorted(parse_objective(search.objective).names - names):
        message = f"there is no metric `{name}` (step `{entry.base}`)"
        problems.add("undefined-name", where, message, nearest(name, names), len(name))
    if not is_setting(search, settings):
        message = f"step `{entry.base}` has neither a setting `{search.param}` nor `{placeholder(search)}`"
        problems.add("search-form", where, message, "say with `param:` which setting is searched on")


class StepSettings(NamedTuple):
    """The kind of a resolved step, and its settings."""

    kind: str
    settings: Mapping[str, Json]


def check_share(entry: StepEntry, step: StepSettings, steps: Mapping[str, StepSettings], problems: Problems) -> None:
    """Check that a share of what another step reached is of a rate, and that the other step has none."""
    share, where = entry.search, entry.search_at
    if not isinstance(share, RateShare) or where is None:
        return
    reached, of, message, hint = steps.get(share.of), share.of, "", ""
    if rate_target(step.kind, step.settings, share.param) is None or not is_setting(share, step.settings):
        message = f"step `{entry.base}`: `{share.param}` is no rate of kind {step.kind}"
        hint = "say with `param:` which setting is the rate"
    elif reached is None:
        message, hint = f"a cell has step `{entry.base}` and no step `{of}`", "give both the same `when`"
    elif reached.kind != step.kind:
        message = f"step `{of}` is of kind {reached.kind}, `{entry.base}` of kind {step.kind}"
        hint = "a share is of what the same operations reach without a rate"
    elif reached.settings.get(share.param) or _has_rate_in_words(share, step.settings, reached.settings):
        message, hint = f"step `{of}` has a `{share.param}` itself: it shows no maximum", "leave it out there"
    elif share.param == RATE and (names := _different_operations(step, reached.settings)):
        message = f"steps `{of}` and `{entry.base}` differ in {', '.join(f'`{name}`' for name in names)}"
        hint = "a share is of what the same operations reach without a rate"
    if message:
        problems.add("rate-share", where, message, hint, len(of))


def _has_rate_in_words(share: RateShare, settings: Mapping[str, Any], reached: Mapping[str, Any]) -> bool:
    """Tell whether a command has a value above 0 behind the flag, or the letters, that a rate follows in another."""
    words, reached_words = (" ".join(map(str, values.get("argv") or ())) for values in (settings, reached))
    flags = re.findall(rf"(?:(?<!\S)(-[^\s=]+)[\s=]+)?(\S*){re.escape(placeholder(share))}", words)
    starts = [(rf"{re.escape(flag)}[\s=]+" if flag else "") + re.escape(before) for flag, before in flags]
    return any(start and re.search(rf"(?<!\S){start}[\d.:,{{]*[1-9{{]", reached_words) for start in starts)


def _different_operations(step: StepSettings, reached: Mapping[str, Json]) -> list[str]:
    """List settings in which two steps of a kind differ, but for how fast and how long they run and what is read."""
    settings, ignored_names = step.settings, (*PACE, *reading_names(step.kind))
    return [
        name for name in settings if name not in ignored_names and settings[name] != reached.get(name, settings[name])
    ]


# Steps that axes change: all, those after a checkpoint (`from`), or those that an axis names (`steps`)


class StepRange:
    def __init__(self, axes: Sequence[Axis], entries: Sequence[StepEntry | Checkpoint], problems: Problems) -> None:
        self._problems = problems
        self._complete = all(entry.name for entry in entries)  # else what could not be read may be meant
        self._steps = [entry for entry in entries if isinstance(entry, StepEntry)]
        self._starts = {entry.name: entry.position for entry in entries if isinstance(entry, Checkpoint)}
        self._changed = {axis.name: self._positions(axis) for axis in axes}

    def axes(self, entry: StepEntry) -> list[int]:
        """List the positions of the axes that change a step."""
        return [number for number, changed in enumerate(self._changed.values()) if entry.position in changed]

    def names(self, axis: Axis) -> tuple[str, ...] | None:
        """List the steps that an axis changes, by name; None = all."""
        if axis.start is None and axis.steps is None:
            return None
        changed = self._changed[axis.name]
        return tuple(dict.fromkeys(step.table_name for step in self._steps if step.position in changed))

    @property
    def before_checkpoints(self) -> Mapping[str, frozenset[str]]:
        """Map each checkpoint to the names of the steps before it."""
        return {
            name: frozenset(step.name for step in self._steps if step.position < start)
            for name, start in self._starts.items()
        }

    def _positions(self, axis: Axis) -> frozenset[int]:
        if axis.start is not None:
            return self._after(axis.start)
        if axis.steps is not None:
            return frozenset(position for name in axis.steps for position in self._named(name))
        return frozenset(step.position for step in self._steps)

    def _after(self, checkpoint: Text) -> frozenset[int]:
        start = self._starts.get(str(checkpoint))
        if start is None:
            if self._complete:
                self._problems.undefined("checkpoint", checkpoint, checkpoint.where, self._starts)
            name = nearest_name(checkpoint, self._starts)  # stands for it, so that more faults are found
            return frozenset() if name is None else self._after(Text(name, checkpoint.where))
        return frozenset(step.position for step in self._steps if step.position > start)

    def _named(self, name: Text) -> list[int]:
        positions = [step.position for step in self._steps if name in (step.name, step.table_name, step.base)]
        if not positions:
            names = [step.name for step in self._steps]
            if self._complete:
                self._problems.undefined("step", name, name.where, names)
            close = nearest_name(name, names)
            return [] if close is None else self._named(Text(close, name.where))
        return positions
