"""Notes of a report: doubts that a reader must know before believing a figure, and coverage of the sweep."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

from msgspec import Struct, field

from stepgrid.collect.step_figures import SHARE_PCT
from stepgrid.model import units
from stepgrid.model.figures import NO_FIGURE
from stepgrid.model.metrics import CLIENT_CPU, SERVER_CPU
from stepgrid.model.plan import BUILD, HardwareFacts, Plan, PlannedReport, PlannedStep, stage_label
from stepgrid.model.records import Json, convert_record
from stepgrid.model.status import Status
from stepgrid.model.table import group
from stepgrid.model.units import DASH, counted, duration, figure, percent, rate, seconds
from stepgrid.plan.expectations import EXPECTS
from stepgrid.plugins.driver import Waiting, WorkloadOperations
from stepgrid.plugins.hit_rate import EXPECTED, FOUND, WARNING
from stepgrid.plugins.registry import find_driver
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.builds import RUNNING, ReportedBuild, deciding_differences, quality_differences
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.comparisons.conditions import SETTINGS, has_missed_lookups, longest_gap, missed_rate
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run, Tables
from stepgrid.summarize.rate_curves import EQUAL_SHARES
from stepgrid.summarize.setup import Defaults, ReportSetup, spec_words, way_text

FAR_APART = timedelta(days=7)
MOST_NAMED = 3
FEWEST_FAR = 2  # ratios in which a load is far off, to be told
SHORT = 1.0  # seconds: the figure of a shorter run is one of its noise
FARTHEST, LEAST_AMPLIFICATION, FEWEST_POINTS = 5.0, 5.0, 3  # times the median of so many points, and at least
ALL_FOUND, FEWEST_SEARCHES = 0.999, 2  # recall; searches of a build that are a curve


class Doubt(Struct, frozen=True):
    brief: str  # some words for a line of all doubts: 2 of 60 runs disturbed
    text: str


class OperationCoverage(NamedTuple):
    unmeasured: tuple[str, ...] = ()  # kinds of operations that no measured step runs
    unknown_steps: tuple[str, ...] = ()  # which may run any: commands, SQL and Lua of the spec's author

    @property
    def sentences(self) -> list[str]:
        unknown = f"; unknown of {_named(self.unknown_steps)}" if self.unknown_steps else ""
        return [f"no measured step runs: {', '.join(self.unmeasured)}{unknown}"] if self.unmeasured else []


class Notes(Struct, frozen=True):
    """Doubts and gaps: what a reader must know before believing a figure."""

    coverage: Coverage
    doubts: tuple[Doubt, ...] = ()
    quiet: tuple[str, ...] = ()
    reproduction: tuple[str, ...] = ()  # how many points of a second set of results came out as in the first
    differs: tuple[str, ...] = ()  # inputs of two sets of results
    left_out: tuple[str, ...] = ()  # what only one of them has
    operations: OperationCoverage = field(default_factory=OperationCoverage)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(doubt.text for doubt in self.doubts)


def doubts(
    header: Plan, setup: ReportSetup, tables: Tables, sections: Sequence[StepPoints], comparisons: Sequence[Comparison]
) -> Iterator[Doubt]:
    """List all doubts of a report: violated expectations first, then those of the plan and the builds.

    `tables`: with what searches tried."""
    yield from _violated(tables.runs)
    if setup.scale:
        host = _host_of_scale(setup.hardware)
        text = (
            f"measured at scale {setup.scale}{host}: sizes, durations or repeats are those of this scale, often "
            "smaller than the title says; the whole experiment may show something else"
        )
        yield Doubt(f"scale {setup.scale}{host.partition(',')[0]}", text)
    for text in header.warnings:
        yield Doubt(_brief(re.sub(r"^\S+:\d+:\d+: ", "", text)), text)
    yield from _of_builds(setup.builds.values(), header.report)
    yield from _of_runs(tables.runs, setup.builds.values())
    yield from _without_figures(tables.runs, spec_words(setup))
    yield from _of_results(tables)
    yield from _of_loads(setup, tables, comparisons)
    yield from _of_times(tables.runs, comparisons, header.report.within)
    for rule in (_point_doubts, _compaction_debt, _recall_range):
        for section in sections:
            yield from rule(section)
    yield from _shares(comparisons)
    yield from _short_runs(sections)
    leading = [comparison for comparison in comparisons if comparison.metric.name == setup.metric.name]
    yield from _many_comparisons(leading)
    if setup.defaults:
        yield from _defaults(setup.defaults)


def _host_of_scale(hardware: Mapping[str, Json]) -> str:
    """Name the host where the facts are not those that a spec declares: a title may speak of other hardware."""
    facts = convert_record(hardware, HardwareFacts)
    if not facts.cores or facts.declared is not False:
        return ""
    host, replaced = f" on this {facts.cores}-core host", ", ".join(facts.described)
    return f"{host}, not on {replaced}" if replaced else f"{host}, whatever hardware the title names"


def _named(names: Iterable[str], most: int = MOST_NAMED, separator: str = ", ") -> str:
    return separator.join(units.first([*dict.fromkeys(names)], most))


def _shares(comparisons: Sequence[Comparison]) -> Iterator[Doubt]:
    """Tell the steps whose rates are another in each arm."""
    cases = (case for comparison in comparisons for case in comparison.cases())
    if steps := [case.point.step for case in cases if case.point.means(SHARE_PCT)]:
        yield Doubt("rates by own maximum", f"{_named(steps)}: {EQUAL_SHARES}")


# Builds


def _of_builds(builds: Iterable[ReportedBuild], report: PlannedReport) -> Iterator[Doubt]:
    builds = list(builds)
    warnings = ((_without_prefix(text), build.name) for build in builds for text in build.warnings)
    for text, names in group(warnings).items():
        brief = "assertions on" if "assertions" in text.lower() else _brief(text)
        yield Doubt(brief, f"{', '.join(names)}: {text}")
    if libraries := [build.name for build in builds if build.is_from_library]:
        text = "the official library, with db_bench compiled against it: compiler and flags are the publisher's"
        yield Doubt("official library", f"{', '.join(libraries)}: {text}")
    yield from _differences("builds", [build for build in builds if not build.client], report)
    yield from _differences("clients", [build for build in builds if build.client], report)


def _differences(noun: str, builds: Sequence[ReportedBuild], report: PlannedReport) -> Iterator[Doubt]:
    """Tell which builds are compared as shipped, and which get no verdict."""
    qualities = [build.quality for build in builds]
    differing = quality_differences(quality or {} for quality in qualities)
    is_recorded = len(builds) < 2 or None not in qualities
    deciding = deciding_differences(builds) if is_recorded else []
    routes = {(quality or {}).get("route") for quality in qualities}
    suites = {str(quality["suite"]) for quality in qualities if quality and "suite" in quality}
    brief = f"packages of {len(suites)} suites" if len(suites) > 1 else f"{noun} made differently"
    why = "; ".join(dict.fromkeys([*deciding, *differing])) or "it is not recorded how some of them were made"
    if report.as_shipped is not None:
        if differing or deciding or not is_recorded:
            text = f"{noun} are compared as shipped ({report.as_shipped}), though made differently: {why}"
            yield Doubt(brief, text)
        return
    refused = f"{noun} that were made differently get no verdict against each other"
    if not is_recorded or (differing and (report.is_strict or RUNNING in routes)):
        yield Doubt(brief, f"{refused}: {why}")
        return
    if deciding:
        text = f"{noun} that differ in this get no verdict against each other: {'; '.join(deciding)}"
        yield Doubt(deciding[0].partition(" ")[0] + " differ", text)
    if shipped := [text for text in differing if text not in deciding]:
        yield Doubt(brief, f"{noun} are compared as shipped, though made differently: {'; '.join(shipped)}")


def _defaults(defaults: Defaults) -> Iterator[Doubt]:
    numbers = {build: len(defaults.changes(build)) for build in defaults.compared}
    first, *further = [f"{number} by {build}" for build, number in numbers.items() if number] or [""]
    if first:
        number, _, build = first.partition(" by ")
        changed = ", ".join([f"{counted(int(number), 'option default')} changed by {build}", *further])
        text = f"{changed} against {defaults.base} (listed below); ratios between builds include them"
        yield Doubt("option defaults differ", text)


def _without_prefix(text: str) -> str:
    return text.removeprefix("WARNING:").strip()


def _brief(text: str) -> str:
    """Return the beginning of a message, without its reasons."""
    return re.split(r"[:;,] ", text)[0]


# Runs and results


def _violated(runs: Sequence[Run]) -> Iterator[Doubt]:
    """Tell the steps whose figures are void, with the first values that violate each expectation."""
    reasons = ((run, run.reason) for run in runs if run.same_as is None and run.reason and EXPECTS in run.reason)
    groups = group(((run.step, reason.rpartition("`")[0]), (run, reason)) for run, reason in reasons)
    for (step, _), members in groups.items():
        count = len([run for run in runs if run.step == step and run.same_as is None])
        names = _named(run.build for run, _ in members)
        text = f"{step} of {names}: {members[0][1]}; void in {len(members)} of {counted(count, 'run')}"
        yield Doubt(f"{step}: expectation violated", text)


def _of_runs(runs: Sequence[Run], builds: Iterable[ReportedBuild]) -> Iterator[Doubt]:
    """Tell what engines printed, unless the build's record has it, and lookups of missing keys."""
    recorded = {_without_prefix(text) for build in builds for text in build.warnings}
    warnings = ((_without_prefix(text), f"{run.step} of {run.build}") for run in runs for text in run.warnings)
    steps_by_text = group(
        pair
        for pair in warnings
        if pair[0] not in recorded and not any(sign in pair[0] for sign in (WARNING, NO_FIGURE))
    )
    for text, steps in steps_by_text.items():
        yield Doubt(f"{_brief(text)} in {counted(len({*steps}), 'step')}", f"{_named(steps)}: {text}")
    for step, step_runs in group((run.step, run) for run in runs if has_missed_lookups(run)).items():
        shares = []
        for metric in (FOUND, EXPECTED):
            values = sorted(run.metrics[metric] for run in step_runs)
            shares.append(" to ".join(dict.fromkeys(percent(value / 100) for value in (values[0], values[-1]))))
        names = ", ".join(dict.fromkeys(run.build for run in step_runs))
        text = (
            f"{step} of {names}: found {shares[0]} of the keys that it looked up; {shares[1]} were expected: "
            "lookups of missing keys are part of these figures"
        )
        yield Doubt(f"{step} missed keys", text)


def _without_figures(runs: Sequence[Run], spec: str) -> Iterator[Doubt]:
    """Tell declared metrics that the output of a step has in no run of a build."""
    run_counts = Counter((run.step, run.build) for run in runs if run.status == Status.DONE)
    reasons: dict[tuple[str, str], dict[str, list[str]]] = {}  # of step and metric: build -> of its runs
    for run in runs:
        for text in run.warnings:
            name, is_lacking, reason = text.partition(NO_FIGURE)
            if is_lacking:
                reasons.setdefault((run.step, name), {}).setdefault(run.build, []).append(reason)
    for (step, name), by_build in reasons.items():
        lacking = {build: texts for build, texts in by_build.items() if len(texts) == run_counts[step, build]}
        if lacking:
            reason = next(iter(lacking.values()))[0]
            text = (
                f"{name} of {step} has no figure in any run of {_named(lacking)}: {reason}; "
                f"`stepgrid check {spec} --try {shlex.quote(step)}=FILE` tries another, nothing is measured again"
            )
            yield Doubt(f"{step} has no {name.partition(' ')[2] or name}", text)


def _of_results(tables: Tables) -> Iterator[Doubt]:
    runs, facts = tables.runs, tables.facts
    for name in ("kernel", "governor"):
        values = sorted({host[name] for host in facts.get("host", {}).values() if name in host})
        if len(values) > 1:
            text = f"the figures come from different settings of the host: {SETTINGS[name]} {', '.join(values)}"
            yield Doubt(f"{len(values)} {name}s", text)
    by_result = {f"{run.place[0]}/{run.attempt}": run for run in runs if run.attempt}
    requests = facts.get("asked", {})
    reasons = Counter(requests[result].get("why") or "no reason given" for result in by_result if result in requests)
    for why, count in reasons.items():
        number = f"{count} of {counted(len(by_result), 'stage')} measured again"
        yield Doubt(number, f"{number} on request, and only the newest result counts: {why}")
    yield from _failed_attempts(tables)
    yield from _databases(runs, facts.get("image", {}))
    yield from _retracted(runs, facts.get("retracted", {}))


def _failed_attempts(tables: Tables) -> Iterator[Doubt]:
    """Count the stages with a result that failed in other attempts: a crash that comes and goes is no noise."""
    steps = group((run.place[0], run.step) for run in tables.runs if run.attempt)
    stages = group((step, stage) for stage, names in steps.items() for step in dict.fromkeys(names))
    failures: dict[str, dict[str, str]] = {}  # step -> stage -> how it failed
    for failure in tables.failures:
        if failure.node in steps:
            step = failure.step if failure.step in stages else steps[failure.node][0]
            failures.setdefault(step, {}).setdefault(failure.node, failure.sentence)
    for step, sentences in failures.items():
        number = f"{len(sentences)} of {counted(len(stages[step]), 'stage')} of {step} failed in another attempt"
        how = _named(sentences.values(), separator="; ")
        yield Doubt(number, f"{number} than the one that counts: {how}; outputs/attempts has what they printed")


def _of_loads(setup: ReportSetup, tables: Tables, comparisons: Sequence[Comparison]) -> Iterator[Doubt]:
    """Tell disturbed stages, and loads that are far off in several ratios; in one doubt where both are of one load."""
    leading = [comparison for comparison in comparisons if comparison.metric.name == setup.metric.name]
    rows = [row for comparison in leading for row in comparison.rows]
    counts = Counter(outlier.load for row in rows for entry in row.entries for outlier in entry.outliers)
    far = {load: f"far off in {count} ratios" for load, count in counts.items() if count >= FEWEST_FAR}
    doubt, loads = _disturbed(tables.runs, tables.facts.get("noise", {}))
    command = f"`stepgrid redo {spec_words(setup)} --disturbed` measures it again"
    if doubt and len(loads) == 1 and setup.loads[1] > 1:
        load = next(iter(loads))
        brief = f"load {load}: disturbed{f', and {far[load]}' if load in far else ''}"
        yield Doubt(brief, f"{brief}; {command}. {doubt.text[0].upper()}{doubt.text[1:]}")
        far.pop(load, None)
    elif doubt:
        yield doubt
    for load, text in sorted(far.items()):
        remedy = command if load in loads else "more loads outweigh it (`--set repeat=N`)"
        yield Doubt(f"load {load}: {text}", f"load {load}: {text}; {remedy}")


def _disturbed(runs: Sequence[Run], noise: Mapping[str, Mapping[str, str]]) -> tuple[Doubt | None, set[int]]:
    """Count the stages before which the host was not quiet, and collect their loads."""
    measured = group((f"{run.place[0]}/{run.attempt}", run) for run in runs if run.attempt and run.measured)
    disturbed = {result: members for result, members in measured.items() if "warning" in noise.get(result, {})}
    stages = []
    for run, *later in disturbed.values():
        shared = [pair for pair in run.labels.items() if all(pair in other.labels.items() for other in later)]
        labels = [f"{axis}={label}" for axis, label in shared if axis != BUILD]
        stages.append(", ".join([run.build, *labels, f"load {run.load}"]))
    if not disturbed:
        return None, set()
    number = f"{len(disturbed)} of {counted(len(measured), 'stage')}"
    names, reason = _named(stages, separator="; "), noise[next(iter(disturbed))]["warning"]
    doubt = Doubt(f"{number} disturbed", f"the host was not quiet before {number} ({names}): {reason}")
    return doubt, {members[0].load for members in disturbed.values()}


def _databases(runs: Sequence[Run], images: Mapping[str, Mapping[str, str]]) -> Iterator[Doubt]:
    """Tell the steps whose databases were created in different ways."""
    ways_of_steps = []
    for step in dict.fromkeys(run.step for run in runs if run.measured):
        results = {f"{run.place[0]}/{run.attempt}" for run in runs if run.step == step and run.attempt}
        ways = Counter(way for result in results if (way := images.get(result, {}).get("method")))
        if len(ways) > 1:
            ranked = sorted(ways.items(), key=lambda way: (-way[1], way[0]))
            text = ", ".join(f"{way_text(way)} ({count})" for way, count in ranked)
            ways_of_steps.append((text, step))
    for ways_text, steps in group(ways_of_steps).items():
        text = f"{stage_label(steps)}: the databases were created in different ways: {ways_text}"
        yield Doubt("databases created differently", text)


def _retracted(runs: Sequence[Run], notes: Mapping[str, Mapping[str, str]]) -> Iterator[Doubt]:
    """Count retracted results by reason, with the steps that they were of; `notes`: by stage/time."""
    steps = group((run.place[0], f"{run.step} of {run.build}") for run in runs)
    stages = ((note.get("why", "no reason given"), result.partition("/")[0]) for result, note in notes.items())
    for why, retracted in group(stages).items():
        names = _named(step for stage in retracted for step in steps.get(stage, ()))
        number = f"{counted(len(retracted), 'result')} retracted"
        yield Doubt(number, f"{number} ({names}): {why}")


def _of_times(runs: Sequence[Run], comparisons: Iterable[Comparison], within: float | None) -> Iterator[Doubt]:
    times = measured_times(runs)
    if times and times[1] - times[0] > FAR_APART:
        days = (times[1] - times[0]).days
        text = f"the figures were measured up to {days} days apart ({times[0]:%Y-%m-%d} to {times[1]:%Y-%m-%d})"
        yield Doubt(f"measured over {days} days", text)
    if within is None:
        return
    gaps: dict[str, float] = {}
    for comparison in comparisons:
        for case in comparison.cases():
            gap = longest_gap(case.point, case.base)
            if gap is not None and gap > within:
                gaps[f"{comparison.where(case.row)}, {comparison.arm_name(case.arm)}"] = gap
    if gaps:
        longest = duration(max(gaps.values()))
        limit = f"more than `compare_within` ({duration(within)})"
        text = f"measured up to {longest} from the base, {limit}: {_named(gaps, separator='; ')}"
        yield Doubt(f"base up to {longest} away", text)


# Steps: a doubt for each that has it


def _point_doubts(section: StepPoints) -> Iterator[Doubt]:
    for brief, message, text in _POINT_RULES:
        cases = [(point, case) for point in section.points if (case := text(point))]
        if cases:
            texts = [": ".join(filter(None, (section.point_name(point), case))) for point, case in cases]
            names = ", ".join(units.first(texts, 4))
            yield Doubt(f"{section.step}: {brief}", f"{section.step}: {message}: {names}")


def _heavy_client(point: Point) -> str:
    """Return `80 against 50`, means of the loads."""
    client, server = point.spread(CLIENT_CPU), point.spread(SERVER_CPU)
    if client is None or server is None or client[0] <= server[0]:
        return ""
    return f"{figure(client[0])} against {figure(server[0])}"


def _compaction_debt(section: StepPoints) -> Iterator[Doubt]:
    """Tell which few arms compacted what earlier steps had left."""
    values = [(point, spread[0]) for point in section.points if (spread := point.spread("write_amplification"))]
    middle = median(value for _, value in values) if len(values) >= FEWEST_POINTS else 0.0
    far = [(point, value) for point, value in values if middle and value >= max(FARTHEST * middle, LEAST_AMPLIFICATION)]
    if far:
        usual = [value for point, value in values if (point, value) not in far]
        arms = _named(f"{rate(value)} ({section.point_name(point)})" for point, value in far)
        text = (
            f"{section.step}: write amplification {arms}, of the others {rate(min(usual))} to {rate(max(usual))}: "
            "compactions of what earlier steps left ran beside it in some arms only"
        )
        yield Doubt(f"{section.step}: compaction debt", text)


def _recall_range(section: StepPoints) -> Iterator[Doubt]:
    """Tell curves of recall that never leave 1: they show nothing of what recall costs."""
    searches = [(point.build, spread[0], point) for point in section.points if (spread := point.spread("recall"))]
    for build, recalls in group((build, (recall, point)) for build, recall, point in searches).items():
        lowest, point = min(recalls, key=lambda pair: pair[0])
        if len(recalls) >= FEWEST_SEARCHES and lowest >= ALL_FOUND:
            text = (
                f"{section.step} of {build}: recall is {lowest:.4f} or more in all {len(recalls)} searches, "
                f"the lowest at {section.point_name(point)}: smaller indexes, fewer candidates or harder data would "
                "show what recall costs"
            )
            yield Doubt(f"{section.step}: recall hardly differs", text)


# in some words, in a sentence, and the text of a point, which is empty where there is nothing to doubt
_POINT_RULES: tuple[tuple[str, str, Callable[[Point], str]], ...] = (
    ("client used more CPU", "the client used more CPU than its server, in µs per operation", _heavy_client),
    ("rate missed", "clients did not keep up with the rate of the spec", missed_rate),
)


def _short_runs(sections: Iterable[StepPoints]) -> Iterator[Doubt]:
    """Tell steps with runs of less than a second, in one doubt."""
    short: dict[str, tuple[float, float]] = {}
    for section in sections:
        times = [time for run in section.runs if (time := run.metrics.get("seconds"))]
        if times and min(times) < SHORT:
            short[section.step] = min(times), max(times)
    if short:
        texts = [
            f"{step} ran for {DASH.join(dict.fromkeys(f'{end:.2g}' for end in ends))} s" for step, ends in short.items()
        ]
        step = min(short, key=lambda name: short[name])
        omitted = f", {len(short) - 1} more" if len(short) > 1 else ""
        text = f"{'; '.join(texts)}: too short to trust. Use more keys or rows, or `times:`"
        yield Doubt(f"{step} ran {short[step][0]:.1g} s{omitted}", text)


def _many_comparisons(comparisons: Sequence[Comparison]) -> Iterator[Doubt]:
    """Count the differences that hold in their table alone."""
    rows = [row for comparison in comparisons for row in comparison.rows]
    entries = [entry for row in rows for entry in row.entries if entry.interval and not entry.refusal]
    differences = [entry for entry in entries if entry.is_difference]
    words = f"{' or '.join(sorted({entry.verdict or '' for entry in differences}))} ratios"
    if weak := sum(entry.perhaps for entry in differences):
        text = (
            f"{weak} of the {len(differences)} {words} may be chance: in a report of {len(entries)} comparisons "
            "some look so by chance; the answer calls these `perhaps`"
        )
        yield Doubt(f"{weak} of {len(differences)} {words} may be chance", text)


# Coverage


class MissingFigures(Struct, frozen=True):
    """Runs that lack figures for one and the same reason."""

    status: str
    reason: str
    runs: int
    cells: tuple[str, ...]
    logs: tuple[str, ...]


class Coverage(Struct, frozen=True):
    counts: Mapping[str, int]  # of measured runs, each counted once
    troubles: tuple[MissingFigures, ...]

    @property
    def incomplete(self) -> int:
        """Count runs that another run of the spec would measure: not those whose figures are void."""
        void = sum(trouble.runs for trouble in self.troubles if EXPECTS in trouble.reason)
        return self.total - self.counts[Status.DONE] - self.counts[Status.UNSUPPORTED] - void

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def coverage(runs: Sequence[Run]) -> Coverage:
    """Count measured runs by status; a run that several cells share counts once."""
    once = {run.place: run for run in reversed(runs) if run.measured}
    once = dict(reversed(once.items()))
    counts = Counter(run.status for run in once.values())
    lacking = [run for run in once.values() if run.status != Status.DONE]
    groups = group(((run.status, run.reason or "no reason recorded"), run) for run in lacking)
    order: list[str] = [*Status]
    ranked = sorted(groups.items(), key=lambda item: -order.index(item[0][0]))
    troubles = tuple(_missing(status, reason, members) for (status, reason), members in ranked)
    return Coverage({name: counts[name] for name in order}, troubles)


def _missing(status: str, reason: str, runs: Sequence[Run]) -> MissingFigures:
    axes = [(*run.labels, "step") for run in runs]
    labels = [(*run.labels.values(), run.step) for run in runs]
    cells = dict.fromkeys(map(comparison_axes.words, labels, axes))
    logs = dict.fromkeys(run.log for run in runs if run.log and run.status != Status.UNSUPPORTED)
    return MissingFigures(status, reason, len(runs), tuple(cells), tuple(logs))


def operation_coverage(steps: Iterable[PlannedStep]) -> OperationCoverage:
    is_run: dict[str, bool] = {}
    unknown_steps: dict[str, None] = {}
    for step in steps:
        if not step.measured or not step.settings:  # published steps have no settings
            continue
        kind: object = find_driver(step.kind)
        if not isinstance(kind, WorkloadOperations) or (workloads := kind.workloads(step.settings)) is None:
            unknown_steps |= {} if isinstance(kind, Waiting) else {step.name: None}
            continue
        for name, runners in kind.operations._asdict().items():
            operation = name.replace("_", " ")
            is_run[operation] = is_run.get(operation, False) or not {*workloads}.isdisjoint(runners.split())
    return OperationCoverage(tuple(name for name, value in is_run.items() if not value), tuple(unknown_steps))


def measured_times(runs: Sequence[Run]) -> tuple[datetime, datetime] | None:
    """Return when the first and the last measured step began."""
    times = [run.started for run in runs if run.measured and run.started]
    return (min(times), max(times)) if times else None


def quiet_times(runs: Sequence[Run]) -> Iterator[str]:
    """Yield `settle: innodb 2.8 s, myrocks 0.3 s; not in time: mysql` for each step that waits; medians."""
    measured = [run for run in runs if run.same_as is None and run.attempt is not None]
    by_step = group(
        ((run.step, kind.waited), run) for run in measured if isinstance(kind := find_driver(run.kind), Waiting)
    )
    for (step, metric), step_runs in by_step.items():
        waits = group((run.build, run.metrics.get(metric)) for run in step_runs)
        times = {build: [wait for wait in build_waits if wait is not None] for build, build_waits in waits.items()}
        texts = [f"{build} {seconds(median(build_times))}" for build, build_times in times.items() if build_times]
        late = [build for build, build_waits in waits.items() if None in build_waits]
        parts = (", ".join(texts), f"not in time: {', '.join(late)}" if late else "")
        yield f"{step}: {'; '.join(filter(None, parts))}"
