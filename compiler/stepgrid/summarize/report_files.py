"""Files of a report: read a plan's tables, write page and text, and make both again where results are newer."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeAlias

from stepgrid.collect import query
from stepgrid.collect.job import collect, collect_stamped
from stepgrid.host.files import read_json, write_json, write_text
from stepgrid.model import units
from stepgrid.model.plan import Plan, other_loads
from stepgrid.model.records import convert_record, replace
from stepgrid.model.units import counted
from stepgrid.plan import plan_file
from stepgrid.plan.difference import links_of
from stepgrid.plugins.registry import FORMS, MEMORIES
from stepgrid.store import plans, stage_requests
from stepgrid.store.paths import BUILD_FILE, STEPS_TABLE, SUMMARY_BRIEF
from stepgrid.store.plans import newest_request
from stepgrid.store.store import Store, SummaryFiles, revision
from stepgrid.summarize import summary_text
from stepgrid.summarize.comparisons.decisions import LoadCosts, load_costs
from stepgrid.summarize.data import tables_reader
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Report, adjust, make_report
from stepgrid.summarize.report_formats import FormOptions
from stepgrid.summarize.summary_text import brief_by_width

PAGE = "html"  # the form of a report that lies beside its text


class Memory(Protocol):
    """A package that knows what was measured and concluded before."""

    def files(self, plan: Plan) -> Sequence[Path]:
        """List files that a report depends on, whether they are there or not."""

    def recall(self, store: Store, plan: Plan) -> Callable[[Report], Report]:
        """Return what adds the past to a report, for each base that its page can be shown against."""


ReadExport: TypeAlias = Callable[[Store, Path], Plan]  # imports a file of results into a store of its own


def current_report(store: Store, plan: Plan) -> Report:
    """Return the report of a plan as its results are now. Nothing is measured."""
    plans.publish(store, plan)
    if _is_current(store, plan):
        with suppress(*query.table_faults()):  # then they are made again
            return read_report(store, plan.digest)
    collect_stamped(store, plan)
    return write_stamped(store, plan.digest)


def current_tables(store: Store, plan: Plan) -> Path:
    """Return the folder of a plan's tables, as its results are now."""
    plans.publish(store, plan)
    if not _is_current(store, plan):
        collect(store, plan)
    return store.tables(plan.digest)


def missing_input(store: Store, plan: str) -> str | None:
    if not store.has_plan(plan):
        return f"there is no plan {plan} under {store.root}/plans; start a run first"
    if not (store.tables(plan) / STEPS_TABLE).is_file():
        return f"the tables of plan {plan} are missing; first: python -m stepgrid.pipeline collect {plan}"
    return None


def read_report(store: Store, plan: str) -> Report:
    header = plan_file.read(store.plan(plan))
    tables = tables_reader.load(store.tables(plan), [axis.name for axis in header.axes])
    is_timed = header.tune or (header.until and header.until.within is not None)
    costs = load_costs(store, header) if is_timed else LoadCosts()
    report = make_report(header, replace(tables, request=newest_request(store, header)), costs, links=links_of(header))
    for name in MEMORIES.names():
        report = adjust(report, MEMORIES.get(name).recall(store, header))
    return report


def write_stamped(store: Store, plan: str) -> Report:
    """Write the report of a plan's tables, and note which code wrote it."""
    report = read_report(store, plan)
    write_report(store, report)
    store.stamp_report(plan, revision())
    return report


def write_report(store: Store, report: Report) -> None:
    """Write the page, ask for loads that are undecided, then write the text: where it is, everything is."""
    files = SummaryFiles.of(store, report.setup.plan)
    write_text(files.page, FORMS.get(PAGE)(report, FormOptions(alone=False)))
    requests = [*report.comparisons.load_requests, *(load for answer in report.grid_answers for load in answer.loads)]
    for answer in report.grid_answers if report.setup.search else ():
        stage_requests.advance_search(store, report.setup.search, answer.points, answer.finalists, answer.why)
    profiles = {} if requests else report.comparisons.differing_steps
    if requests or profiles:
        header = plan_file.read(store.plan(report.setup.plan))
        last_stages = {cell.id: cell.repeats[0].stages[-1] for cell in header.cells}
        imported_loads = other_loads(header)
        for cell, loads, why in requests:  # that it should have with those of other hosts, which nobody measures here
            stage_requests.request_loads(store, last_stages[cell], loads - len(imported_loads.get(cell, ())), why)
        for cell, steps in profiles.items() if header.profile and header.profile.waits else ():
            stage_requests.request_profile(store, last_stages[cell], steps)
    for line in changed_statements(store.verdicts(report.setup.plan), report, revision()):
        print(line, file=sys.stderr)
    write_json(store.summary(report.setup.plan) / SUMMARY_BRIEF, brief_by_width(report, files.page))
    write_text(files.text, summary_text.text(report, files.page))


def _is_current(store: Store, plan: Plan) -> bool:
    """Tell whether the files of a report are newer than what it is made of.

    A folder changes when a result or an attempt comes or goes; an attempt, when it fails."""
    try:
        written = SummaryFiles.of(store, plan.digest).oldest_time
    except OSError:
        return False
    return all(_modified(path) <= written for path in _inputs(store, plan))


def _inputs(store: Store, plan: Plan) -> Iterator[Path]:
    for node in (*(stage.id for stage in plan.stages), *(build.id for build in plan.builds)):
        yield store.results_of(node)
        yield from (store.attempts_of(node), *store.attempts(node)[-1:])
    yield from (store.build(build.id) / BUILD_FILE for build in plan.builds)
    for name in MEMORIES.names():
        yield from MEMORIES.get(name).files(plan)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


# Verdicts and claims that came out otherwise, of the same results, by another version of this program

MOST_CHANGES = 5  # that are named
Statements = Mapping[str, Mapping[str, str]]  # subject -> {results: their digest, said: in words}


def changed_statements(path: Path, report: Report, revision: str) -> list[str]:
    """Name what the report of another revision said otherwise; `path` has afterwards what this one says."""
    previous, statements = read_json(path), statements_of(report)
    changes = []
    if previous.get("revision", revision) != revision:
        changes = _changes(previous.get("statements"), statements)
    with suppress(OSError):  # a store that cannot be written
        write_json(path, {"revision": revision, "statements": statements})
    return changes


def statements_of(report: Report) -> Statements:
    statements: dict[str, Mapping[str, str]] = {}
    for comparison in report.comparisons.all:
        for case in comparison.cases():
            arm = f"{comparison.arm_name(case.arm)} against {comparison.base}"
            metric = "" if comparison.metric == report.setup.metric else comparison.metric.title
            name = ", ".join(filter(None, (comparison.where(case.row), arm, metric)))
            ratio = "" if case.entry.ratio is None else f"{units.times(case.entry.ratio)} "
            text = f"{ratio}{case.entry.verdict or 'no verdict'}"
            statements[name] = {"results": _digest((case.point, case.base)), "said": text}
    results = _digest([point for section in report.comparisons.sections for point in section.points])
    for claim in report.comparisons.claims:
        statements[f"claim `{claim.claim}`"] = {"results": results, "said": claim.result}
    return statements


def _digest(points: Sequence[Point]) -> str:
    attempts = sorted(f"{run.place}/{run.attempt}" for point in points for run in point.runs if run.attempt)
    return hashlib.blake2b("\n".join(attempts).encode(), digest_size=8).hexdigest()


def _changes(previous: object, statements: Statements) -> list[str]:
    comparable = {
        name: statement.get("said", "")
        for name, statement in convert_record(previous, dict[str, dict[str, str]]).items()
        if statement.get("results") == statements.get(name, {}).get("results", object())
    }
    changes = [
        f"{name}: {text} before, {statements[name]['said']} now"
        for name, text in comparable.items()
        if text != statements[name]["said"]
    ]
    if not changes:
        return []
    total = counted(len(comparable), "statement")
    verb = "differs" if len(changes) == 1 else "differ"
    head = f"another version of stepgrid made this report before: {len(changes)} of {total} {verb}"
    return [head, *units.first(changes, MOST_CHANGES)]
