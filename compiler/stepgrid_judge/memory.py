"""Memory of a report: what persons noted in notes.yaml, and how its series moved before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from stepgrid.language.problems import Location, Problem, Problems, nearest
from stepgrid.model.plan import Plan, is_imported
from stepgrid.model.records import replace
from stepgrid.model.units import counted, percent
from stepgrid.store.store import Store
from stepgrid.summarize.comparisons.comparison import ArmEntry, Case, Comparison, Conclusion
from stepgrid.summarize.notes import Doubt
from stepgrid.summarize.report import Report
from stepgrid_page.static_site import History

if TYPE_CHECKING:
    from stepgrid_judge.series import Series

NOTES = "notes.yaml"  # beside the spec, or in the current folder
FEWEST_STEPS, LEAST_SHARE = 5, 0.05  # from one rung of a series to the next; of those as large as a difference
_COMMIT = re.compile(r"[0-9a-f]{7,40}")


class Note(Struct, frozen=True):
    """A line of notes.yaml: a series, the release from which it is another, and what a person concluded."""

    version: str  # of a build, its name, or the beginning of its commit; of files the name of an arm
    conclusion: Conclusion
    step: str = ""  # "": any
    metric: str = ""
    labels: Mapping[str, str] = {}
    where: Location = Location(NOTES, 1, 1)

    def is_about(self, step: str, metric: str, labels: Mapping[str, str]) -> bool:
        is_series = self.step in ("", step) and self.metric in ("", metric)
        return is_series and all(labels.get(axis) == label for axis, label in self.labels.items())

    def is_of(self, names: frozenset[str]) -> bool:
        is_commit = _COMMIT.fullmatch(self.version) is not None
        return self.version in names or (is_commit and any(name.startswith(self.version) for name in names))


def notes_path(spec: str) -> Path:
    """Name the notes beside a spec; those of other results lie in the current folder."""
    return Path(NOTES) if not spec or is_imported(spec) else Path(spec).parent / NOTES


def spec_notes(spec: str, problems: Problems) -> Sequence[Note]:
    """Read the notes beside a spec; none where there is no such file, or something is wrong with it."""
    path = notes_path(spec.partition(" (")[0])
    if not path.is_file():
        return ()
    from stepgrid_judge.notes_file import read_notes  # pydantic takes a while to import

    return read_notes(path, problems)


# Into a report


def add_notes(report: Report, notes: Sequence[Note]) -> Report:
    """Put what was noted beside the verdicts; a note of no step of this report is told where its version is here."""
    if not notes:
        return report
    names = _arm_names(report)
    comparisons = tuple(_add_to(comparison, notes, names) for comparison in report.comparisons.all)
    steps = [section.step for section in report.comparisons.sections]
    misspelt = [
        Doubt(f"{NOTES}: no step {note.step}", f"{note.where}: there is no step `{note.step}`: {hint}")
        for note in notes
        if note.step and note.step not in steps and any(map(note.is_of, names.values()))
        and (hint := nearest(note.step, steps)).startswith("did you mean")
    ]  # fmt: skip
    return replace(
        report,
        comparisons=replace(report.comparisons, all=comparisons),
        notes=replace(report.notes, doubts=(*report.notes.doubts, *misspelt)),
    )


def _add_to(comparison: Comparison, notes: Sequence[Note], names: Mapping[str, frozenset[str]]) -> Comparison:
    rows = []
    for row in comparison.rows:
        entries = [row.entries[0]]
        for entry in row.entries[1:]:
            is_case = entry.point is not None and entry.is_difference and bool(entry.point.runs)
            note = _find(notes, comparison, entry, names) if is_case else None
            entries.append(replace(entry, conclusion=note.conclusion) if note else entry)
        rows.append(replace(row, entries=tuple(entries)))
    return replace(comparison, rows=tuple(rows))


def _find(
    notes: Sequence[Note], comparison: Comparison, entry: ArmEntry, names: Mapping[str, frozenset[str]]
) -> Note | None:
    """Find the last note of an arm's own release."""
    if entry.point is None:
        return None
    run = entry.point.runs[0]
    arm_names = names.get(run.build_id or run.build, frozenset({run.build}))
    matches = (
        note for note in notes if note.is_about(run.step, comparison.metric.name, run.labels) and note.is_of(arm_names)
    )
    return max(matches, key=lambda note: note.where.line, default=None)


def _arm_names(report: Report) -> dict[str, frozenset[str]]:
    """Map builds to what a note can call them."""
    facts = report.data.facts.get("build", {})
    names: dict[str, set[str]] = {}
    for run in report.data.runs:
        build = report.setup.builds.get(run.build_id)
        commit = re.search(r'"commit": ?"([0-9a-f]+)"', facts.get(run.build_id, {}).get("facts", ""))
        build_names = names.setdefault(run.build_id or run.build, set())
        build_names |= {run.build, build.version or run.build if build else run.build, *([commit[1]] if commit else [])}
    return {node: frozenset(build_names) for node, build_names in names.items()}


# The past of its series


def add_past(report: Report, series: Sequence[Series]) -> Report:
    """Doubt a difference where its series moved as far before, both ways, without being told apart from noise."""
    doubts = list[Doubt]()
    for comparison in report.comparisons.leading:
        for case in comparison.cases():
            if case.entry.is_difference and not case.entry.conclusion and case.entry.ratio:
                doubts += _doubts(comparison, case, series)
    return replace(report, notes=replace(report.notes, doubts=(*report.notes.doubts, *doubts)))


def _doubts(comparison: Comparison, case: Case, series: Sequence[Series]) -> Iterator[Doubt]:
    runs = {(run.place, run.attempt) for run in case.point.runs}
    attempts = {f"{point.runs[0].attempt or ''}"[:8] for point in (case.point, case.base)}
    is_by_turns = len(attempts) == 1 and _overlap(case)
    for one in series:
        is_same = one.metric.name == comparison.metric.name and any(rung.runs & runs for rung in one.rungs)
        if not is_same or not case.entry.ratio:  # of another host, engine or work
            continue
        steps, large = one.moves_before(case.point.runs[0].build_id, case.entry.ratio)
        if steps >= FEWEST_STEPS and large >= max(2, LEAST_SHARE * steps):
            size = percent(abs(case.entry.distance - 1))
            why = "; arms that were measured by turns share what moves the host" if is_by_turns else ""
            moved = f"this series moved by {size} or more, both ways, in {large} of {counted(steps, 'step')} before"
            where = f"{comparison.where(case.row)}, {comparison.arm_name(case.arm)}"
            yield Doubt(
                f"{case.row.step} moved by {size} in {large} of {steps} before",
                f"{where}: {case.entry.text}, but {moved}{why} (`stepgrid history {report_words(one)}`)",
            )
            return


def report_words(series: Series) -> str:
    return " ".join(filter(None, (series.spec.partition(" (")[0], series.step)))


def _overlap(case: Case) -> bool:
    """Tell whether loads of arm and base were measured by turns."""
    spans = []
    for point in (case.point, case.base):
        times = [run.started for run in point.runs if run.started]
        if not times:
            return False
        spans.append((min(times), max(times)))
    return spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]


class StoreMemory:
    """What the core asks for, `stepgrid.summarize.report_files.Memory`, and a site, `SiteMemory`."""

    def files(self, plan: Plan) -> Sequence[Path]:
        return [notes_path(plan.spec)]

    def recall(self, store: Store, plan: Plan) -> Callable[[Report], Report]:
        problems = Problems()
        notes = spec_notes(plan.spec, problems)
        faults = tuple(Doubt(f"{NOTES} has faults", _fault(problem)) for problem in problems.errors)

        @cache  # the page asks for several bases
        def past() -> Sequence[Series]:
            from stepgrid_judge.series import store_series

            return store_series(store, lambda stored: (stored.spec, stored.scale) == (plan.spec, plan.scale))

        def add(report: Report) -> Report:
            noted = add_notes(report, notes)
            noted = replace(noted, notes=replace(noted.notes, doubts=(*noted.notes.doubts, *faults)))
            has_differences = any(case.entry.is_difference for one in noted.comparisons.leading for case in one.cases())
            return add_past(noted, past()) if has_differences and plan.digest else noted

        return add

    def histories(self, store: Store, plans: Sequence[Plan]) -> Sequence[History]:
        from stepgrid_judge.history_forms import make_histories

        return make_histories(store, plans)


def _fault(problem: Problem) -> str:
    return f"{problem.where}: {problem.message}{f': {problem.hint}' if problem.hint else ''}; it accepts nothing"


MEMORY = StoreMemory()
