"""Sentences of a report beside its findings: gaps, doubts, reasons, advice, and on what it was measured.

Page, text, terminal, Markdown and site share them.
"""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from statistics import median
from typing import NamedTuple

from stepgrid.collect.series import NOT_STEADY, Points, Span, dips, slow_seconds
from stepgrid.host.facts import pseudonym
from stepgrid.model import units
from stepgrid.model.metrics import SLOW
from stepgrid.model.plan import DIFFERENCE, MOST_LOADS, HardwareFacts, is_imported
from stepgrid.model.records import convert_record
from stepgrid.model.units import DASH, counted, percent
from stepgrid.plugins.layout import MARK
from stepgrid.summarize.arms import ArmCase, arms, short_build
from stepgrid.summarize.comparisons.builds import NO_VERDICT
from stepgrid.summarize.comparisons.comparison import DOUBT, Comparison
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.comparisons.conditions import OTHER_DURABILITY, OTHER_HOST, OTHER_WORK, OWN_RATES
from stepgrid.summarize.comparisons.ladders import versions
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Event
from stepgrid.summarize.findings import DOT, never_steady
from stepgrid.summarize.report import Report
from stepgrid.summarize.setup import ReportSetup, days_text, request_of, spec_words
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.verdicts import BUSY, ONE_LOAD, UNDECIDED

TRY = "A try: one load, no verdicts and no causes"


def incomplete(report: Report) -> str:
    missing, total = report.notes.coverage.incomplete, report.notes.coverage.total
    return f"INCOMPLETE: {missing} of {total} measured steps have no figures yet" if missing else ""


def banner(report: Report) -> str:
    if report.setup.loads[1] > 1:
        return ""
    return f"{TRY}; claims stay undecided" if report.comparisons.claims else TRY


def doubts_line(report: Report) -> str:
    """Write all doubts in a line: Read with care (2): assertions on · fillseq ran 0.2 s."""
    briefs = doubt_briefs(report)
    return f"Read with care ({len(report.notes.doubts)}): {DOT.join(briefs)}" if briefs else ""


def doubt_briefs(report: Report) -> list[str]:
    return list(dict.fromkeys(doubt.brief for doubt in report.notes.doubts))


# Dips, and the events of the engine that they fall into

MOST_KINDS, MOST_DIPPING = 3, 6  # kinds of events, and points of a step
EXCESS = 0.1  # of the time: events that take no more of the dips than so much beyond their usual share say nothing


def dip_lines(report: Report, section: StepPoints) -> list[str]:
    """Write a line for each of the points that dip most, if the engine's events are known."""
    series = report.data.series

    def slow(point: Point) -> float:
        return sum(run.metrics.get(SLOW, 0.0) for run in point.runs)

    chosen = sorted(filter(slow, section.points), key=slow, reverse=True)[:MOST_DIPPING]
    events, lines = report.data.details.events([key for point in chosen for key in point.places]), list[str]()
    for point in chosen:
        text = dip_text([(series[key], events[key]) for key in point.places if key in events and key in series])
        lines += [": ".join(filter(None, (section.point_name(point), text)))] if text else []
    return lines


def dip_text(runs: Sequence[tuple[Points, Sequence[Event]]]) -> str:
    """Count the dips that fall into events of a kind, if these take clearly more of their time than of all other."""
    total = sum(len(dips(points)) for points, _ in runs)
    kinds = sorted({event.kind for _, events in runs for event in events})
    if not total or not kinds:
        return ""
    meetings = {kind: _meet(runs, kind) for kind in kinds}
    likely = [kind for kind in kinds if meetings[kind].excess >= EXCESS]
    noun, texts = f"{counted(total, 'dip')} below half of the median QPS", list[str]()
    for kind in sorted(likely, key=lambda kind: -meetings[kind].excess)[:MOST_KINDS]:
        count, share, other_share = meetings[kind]
        of_all = "" if texts else f"of {noun} fall{'s' if total == 1 else ''} "
        shares = f"{100 * share:.0f} % of the dips' time, {100 * other_share:.0f} % of the rest"
        ending = "" if kind.endswith("pressure") else "es" if kind.endswith("sh") else "s"
        texts.append(f"{count} {of_all}into {kind}{ending} ({shares})")
    return ", ".join(texts) or f"{noun}, in which no event of the engine takes clearly more time than else"


class _Meeting(NamedTuple):
    """Dips that meet an event of a kind, and how much of their time, and of the other time, such events take."""

    dips: int
    share: float
    other_share: float

    @property
    def excess(self) -> float:
        return self.share - self.other_share


def _meet(runs: Sequence[tuple[Points, Sequence[Event]]], kind: str) -> _Meeting:
    count, covered, lengths = 0, {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    for points, events in runs:
        spans = _join((event.begin, event.end) for event in events if event.kind == kind)
        count += sum(next(_overlaps(dip, spans), None) is not None for dip in dips(points))
        for second, is_slow in slow_seconds(points):
            covered[is_slow] += sum(_overlaps(second, spans))
            lengths[is_slow] += second[1] - second[0]
    return _Meeting(count, *(covered[is_slow] / (lengths[is_slow] or 1.0) for is_slow in (True, False)))


def _join(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    return joined


def _overlaps(span: Span, joined: Sequence[Span]) -> Iterator[float]:
    """Yield the seconds in common with each span that it meets."""
    begin, end = span
    at = bisect_left(joined, begin, key=itemgetter(1))
    while at < len(joined) and joined[at][0] < end:
        yield min(end, joined[at][1]) - max(begin, joined[at][0])
        at += 1


# Verdicts that a report lacks


@lru_cache(1)
def advice(report: Report) -> list[str]:
    """Say what would give the verdicts that the report lacks."""
    until = report.setup.until
    is_of_pairs = not (until and until.is_race) and not report.setup.search
    outcomes = words(report) if is_of_pairs else set()  # a race gives loads to the best, not to pairs
    refusals = [case.entry.refusal or "" for case in _cases(report) if case.word == NO_VERDICT]
    lines = []
    if ONE_LOAD in outcomes:
        lines.append(_one_load_advice(report.setup))
    if BUSY in outcomes:
        spec = spec_words(report.setup)
        remedy = f"end what `stepgrid doctor {spec}` names, then `stepgrid redo {spec} --disturbed` measures them again"
        lines.append(f"Others used the host in most loads: {remedy}.")
    if UNDECIDED in outcomes:
        lines.append(_loads_advice(report))
    if any(text.startswith(OTHER_HOST) for text in refusals):
        lines.append("Arms of two hosts get no verdict: measure them on one, or compare hosts by `hardware`.")
    if any(text.startswith(OTHER_WORK) for text in refusals):
        lines.append("Arms that did other work get no verdict: change the spec so that they do the same.")
    if any(text.startswith(NOT_STEADY) for text in refusals) or any(never_steady(report)):
        lines.append("Runs that did not become steady give no verdict: give the step a longer `duration`.")
    if any(text.startswith(OTHER_DURABILITY) for text in refusals):
        way = "give them options of one class; `allow: {mixed-durability: REASON}` compares them as they are"
        lines.append(f"Arms that write with unequal durability get no verdict: {way}.")
    if any(not text.startswith((OTHER_HOST, OTHER_WORK, OTHER_DURABILITY, OWN_RATES, NOT_STEADY)) for text in refusals):
        lines.append("Build both alike for a verdict; `allow: {mixed-quality: REASON}` gives one as shipped.")
    return lines


def _one_load_advice(setup: ReportSetup) -> str:
    if setup.loads[1] >= USUAL_LOADS:
        return f"One load gives no verdict: the others of {setup.loads[1]} are not measured yet."
    if is_imported(setup.spec):
        return f"One load gives no verdict: {USUAL_LOADS} or more do."
    if setup.scale:
        return f"One load gives no verdict: the whole experiment, or `--set repeat={USUAL_LOADS}`, does."
    return f"One load gives no verdict: `repeat: {USUAL_LOADS}` or more does."


@lru_cache(1)
def words(report: Report) -> set[str]:
    return {case.word for case in _cases(report)}


def _cases(report: Report) -> list[ArmCase]:
    return [case for comparison in report.comparisons.leading for arm in arms(comparison) for case in arm.compared]


def _wide_intervals(report: Report) -> list[Interval]:
    intervals = [case.entry.interval for case in _cases(report) if case.word == UNDECIDED and case.entry.interval]
    return verdicts.too_wide(intervals, report.setup.effect)


def _loads_advice(report: Report) -> str:
    wide = _wide_intervals(report)
    if not wide:
        return "Undecided ratios are within the noise floor of this experiment: a quieter host would tell."
    if any(any(interval.bracket) for interval in wide):
        return "Searches left wide gaps: more `points`, a narrower range or more loads would tell more."
    wanted, difference = verdicts.needed_loads(wide), percent(DIFFERENCE)
    points = "here" if len(wide) == 1 else "at half of the undecided points"
    if wanted.least is None:
        reach = float(f"{verdicts.middle_reach(wide):.1g}")
        text = f"±{percent(reach)}" if reach < 1 else units.times(1 + reach)
        return f"Too noisy: nothing below {text} can be seen {points}. A quieter host or longer steps would tell more."
    if wanted.most is not None and wanted.most <= report.setup.loads[1]:
        return f"These loads show {difference} {points}; smaller differences need more loads."
    if wanted.most is None or wanted.most > verdicts.PATIENCE:
        return f"{wanted.text.capitalize()} loads, longer steps or a quieter host would show {difference} {points}."
    if is_imported(report.setup.spec):
        return f"{wanted.text.capitalize()} loads would show {difference} {points}, as far as the noise is known."
    return (
        f"`repeat: {wanted.most}` would show {difference} {points} ({wanted.text} loads, as far as the noise is known)."
    )


def legend(report: Report, *comparisons: Comparison) -> str:
    """Explain the marks of tables or of a heat map of these comparisons, of all leading ones if none is named."""
    if report.setup.loads[1] == 1:
        return "One load of each: figures and ratios as they came out, without verdicts."
    effect, marks = percent(report.setup.effect), verdicts.MARKS
    metric = comparisons[0].metric if comparisons else report.setup.metric
    arrows = ", ".join(sorted(f"{marks[word]} {word}" for word in metric.verdicts))
    rows = [row for comparison in comparisons or report.comparisons.leading for row in comparison.rows]
    used = {mark[:1] for row in rows for entry in row.entries[1:] for mark in entry.marks}
    parts = [f"{arrows}: the whole 95 % interval is more than {effect} from 1", *mark_texts(used, report)]
    return f"{'; '.join(parts)}."


MARK_MEANINGS = {
    "=": "the same within {effect}",
    "≠": "differs, perhaps by less than {effect}",
    "?": "undecided",
    MARK: NO_VERDICT,
    DOUBT: "a doubt of its own: point at it",
}


def mark_texts(marks: Collection[str], report: Report) -> Iterator[str]:
    """Explain the marks of a table that are no arrows."""
    for mark, text in MARK_MEANINGS.items():
        if mark in marks:
            yield f"{mark} {text.format(effect=percent(report.setup.effect))}"


_GLOSSARY = {
    "load": "a freshly loaded database; loads are what is repeated",
    "run": "a repeat of the measured steps from the image of one load",
    "stage": "the steps between two saved databases, measured in one go",
    "step": "a benchmark or command of the spec",
    "arm": "a value of a compared axis: a build or a setting",
    "base": "the arm that ratios divide by",
    "point": "a step with one value of each axis that is not compared",
    "QPS": "operations per second; rows per second where a step inserts rows or builds indexes",
    "certain": "holds among all comparisons of the report (Holm), of three loads or more",
    "perhaps": "holds in its table, but a report of so many comparisons shows some by chance",
    "noise floor": "how far apart equal arms came out in this experiment; a ratio within it decides nothing",
}


def glossary(report: Report) -> dict[str, str]:
    """Define the words of a report, and its verdicts."""
    effect = f"{percent(report.setup.effect)} in this report: the difference from which on a ratio counts"
    used = {case.entry.verdict for comparison in report.comparisons.all for case in comparison.cases()}
    meanings = {word: meaning for word, meaning in verdicts.MEANING.items() if word in used}
    return {**_GLOSSARY, "smallest effect": effect, **meanings}


# Next steps, as commands to paste

COST = "; `stepgrid plan` in place of `stepgrid run` says how long it takes"
DOCTOR = "checks this host for noise and shows how to fix it"
REPEAT = "repeat="  # how a value of --set begins that says how many loads there are
USUAL_LOADS = 3  # loads that give verdicts, as a rule


class NextStep(NamedTuple):
    command: str
    why: str


@lru_cache(1)
def next_steps(report: Report) -> list[NextStep]:
    setup, spec = report.setup, spec_words(report.setup)
    if not setup.plan:  # figures of other tools
        return []
    steps = []
    if not is_imported(setup.spec):
        if report.notes.coverage.incomplete:
            steps.append((f"run {spec}", "measures what has no figures yet, and nothing twice"))
        steps += _more_loads(report, spec)
        if setup.scale:
            unscaled = f"the whole: sizes and durations of the spec, not of {setup.scale}"
            steps.append((f"run {shlex.join(request_of(setup)._replace(scale=None).words())}", unscaled))
        if disturbed := sum("warning" in result for result in report.data.facts.get("noise", {}).values()):
            again = f"marks the {counted(disturbed, 'disturbed stage')}; the next `run` measures their loads again"
            steps.append((f"doctor {spec}", DOCTOR))
            steps.append((f"redo {spec} --disturbed", again))
    if report.comparisons.claims:
        steps.append((f"report {spec} --table claims", "every claim at every point, with its numbers"))
    steps.append((f"explain {spec}", "every option and setting of every cell, with the line that it comes from"))
    steps.append((f"compare {setup.plan} {spec}", "later results beside these: after a change, or of another day"))
    return [NextStep(f"stepgrid {command}", why) for command, why in dict.fromkeys(steps)]


def _more_loads(report: Report, spec: str) -> Iterator[tuple[str, str]]:
    outcomes, loads, imported = words(report), report.setup.loads[1], report.setup.imported_loads
    request = request_of(report.setup)
    sets = tuple(text for text in request.sets if not text.startswith(REPEAT))
    run = f"run {shlex.join(request._replace(sets=sets).words())} --set {REPEAT}"
    is_undecided = any(claim.result == UNDECIDED for claim in report.comparisons.claims)
    if loads < USUAL_LOADS and (ONE_LOAD in outcomes or is_undecided):
        why = f"{USUAL_LOADS} loads of each cell: one gives no verdict, two seldom do{COST}"
        yield f"{run}{USUAL_LOADS - imported}", why
    elif report.setup.until:
        return
    elif (
        UNDECIDED in outcomes
        and ((wanted := verdicts.needed_loads(_wide_intervals(report)).most) or MOST_LOADS) > loads
    ):
        if wanted is None or wanted > verdicts.PATIENCE:
            yield f"doctor {spec}", DOCTOR
        else:
            goal = f"enough to see {percent(DIFFERENCE)} at half of the undecided points"
            yield f"{run}{wanted - imported}", f"{goal}; nothing is measured twice{COST}"
    elif is_undecided or not report.notes.coverage.incomplete:
        gain = "narrower intervals" if is_undecided else "intervals a third narrower"
        yield f"{run}{2 * loads - imported}", f"{gain}, by twice the loads; nothing is measured twice{COST}"


# On what it was measured


def subtitle(report: Report) -> str:
    """Write builds, steps, loads, host, day: `rocksdb 9.10.0 · readww · 5 fresh loads, 3 s each · 2-core Xeon, …`."""
    days = days_text(report.setup.measured, f" {DASH} ")
    engines = [build for build in report.setup.builds.values() if not build.client]
    names = [engines[0].versioned_name, *(build.title for build in engines[1:])] if engines else []
    builds = f"{names[0]} to {short_build(names[-1])}" if len(versions(names)) > 2 else ", ".join(units.first(names, 2))
    people = {host["measured_by"] for host in report.data.facts.get("host", {}).values() if "measured_by" in host}
    day = f"{days}, by {', '.join(units.first(sorted(people), 2))}" if people else days
    return DOT.join(filter(None, (builds, _work(report), _loads(report), _host(report), day)))


def _work(report: Report) -> str:
    sections, searches = report.comparisons.sections, report.comparisons.searches
    steps = [*(section.step for section in sections), *dict.fromkeys(search.axis.step for search in searches)]
    tries = [run for search in searches for runs in search.loads.values() for run in runs]
    runs = [*(run for section in sections for run in section.runs), *tries]
    sizes = [value for run in runs if (value := run.metrics.get("database_bytes"))]
    text = f"database of {units.short_figure(median(sizes), 'B')}{_fit(report, max(sizes))}" if sizes else ""
    size = text or "size of data not measured"
    return f"{', '.join(steps) if len(steps) <= 3 else counted(len(steps), 'step')} ({size})"


def _fit(report: Report, size: float) -> str:
    """Tell whether a database fits into the memory that its steps may use."""
    memory = report.setup.memory
    if not memory:
        return ""
    is_whole = memory == report.setup.hardware.get("memory")
    name = "the host's memory" if is_whole else f"a step's {units.size(memory)}"
    return f", fits in {name}" if size < memory else f", {size / memory:.2g} times {name}"


def _loads(report: Report) -> str:
    fewest, most = report.setup.loads
    loads = counted(most, "fresh load") if fewest == most else f"{fewest}{DASH}{most} fresh loads"
    if report.setup.imported_loads:
        loads += f" ({report.setup.imported_loads} imported, of {counted(report.setup.other_hosts, 'host')})"
    runs = f" of {counted(report.setup.runs, 'run')}" if report.setup.runs > 1 else ""
    if not (seconds := step_seconds(report)):
        return f"{loads}{runs}"
    is_short = max(seconds) < 100  # seconds, with a digit that tells them apart
    ends = dict.fromkeys(f"{end:.2g}" if is_short else units.duration(end) for end in (min(seconds), max(seconds)))
    return f"{loads}{runs}, {DASH.join(ends)}{' s' if is_short else ''} each"


def step_seconds(report: Report) -> list[float]:
    """List how long the runs of the steps of the first comparison took."""
    steps = report.comparisons.leading[0].steps if report.comparisons.leading else []
    runs = [run for section in report.comparisons.sections if section.step in steps for run in section.runs]
    return [time for run in runs if (time := run.metrics.get("seconds"))]


def _host(report: Report) -> str:
    hardware = convert_record(report.setup.hardware, HardwareFacts)
    cpu = re.sub(r"\((?:R|TM)\)|\b(?:CPU|Processor)\b|@.*", "", hardware.cpu)
    cores = f"{hardware.cores}-core " if hardware.cores is not None else ""
    memory = f", {units.size(hardware.memory)}" if hardware.memory is not None else ""
    disk = hardware.storage.title
    facts = report.data.facts.get("host", {}).values()
    names = sorted({pseudonym(host["hostname"]) for host in facts if "hostname" in host})
    machine = [hardware.id] if hardware.declared and hardware.id else units.first(names, 1)
    label = f" ({', '.join(machine)})" if machine else ""
    return f"{cores}{' '.join(cpu.split())}{memory}{disk and f', {disk}'}{label}".strip()
