"""What the report is to show, checked against the cells that there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from stepgrid.language.models import Claim, Table
from stepgrid.language.problems import Problems, nearest
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Text, key_location
from stepgrid.model.plan import Axis, Json, PlannedCell, PlannedStep, Report
from stepgrid.plan.report import claim_check, time_window
from stepgrid.plan.report.declared_names import DeclaredNames, declared
from stepgrid.plan.report.vocabulary import STEP, Vocabulary
from stepgrid.plugins.registry import LAYOUTS

Known: TypeAlias = Vocabulary | DeclaredNames

COUNTERS = "counters"  # the layout that shows what servers counted
MIXED_QUALITY = "mixed-quality"  # the lint that `allow` silences, and then builds are compared as shipped


def plan(
    document: Document,
    axes: Sequence[Axis],
    cells: Sequence[PlannedCell],
    stages: Iterable[Sequence[PlannedStep]],
    problems: Problems,
) -> Report:
    said = document.spec.report
    exact = {axis.name: set(axis.labels) for axis in axes}
    _conditions("report.base", said.base, exact, problems)
    if said.tables or document.spec.claims:
        _check(document, Vocabulary(document, axes, cells, stages), problems)
    base = {axis: str(label) for axis, label in said.base.items()}
    tables = tuple(map(_plain, said.tables))
    asserted = tuple(_claim(claim, document.spec.repeat.loads) for claim in document.spec.claims)
    as_shipped = document.spec.allow.get(MIXED_QUALITY)
    return Report(base, said.smallest_effect, tables, asserted, document.spec.compare_within, as_shipped)


def check_declared(document: Document, problems: Problems) -> None:
    """What can be said of a report where there are no cells: a file that cannot be read may declare the rest."""
    if not problems.unread:
        known = declared(document)
        _conditions("report.base", document.spec.report.base, known.exact, problems)
        _check(document, known, problems)


def _check(document: Document, known: Known, problems: Problems) -> None:
    for table in document.spec.report.tables:
        _table(table, known, problems)
    for claim in document.spec.claims:
        _conditions("where", claim.where, known.labels, problems)
        claim_check.check(claim.expect, known.labels, known.figures, problems)
        if claim.confirm is not None and document.spec.repeat.until is not None:
            message = "a claim with `confirm` needs a fixed number of loads, and `repeat` says `until`: keep one"
            problems.add("not-both", claim.expect.where, message, width=len(claim.expect))


def _table(table: Table, known: Known, problems: Problems) -> None:
    _check_layout(table, problems)
    _check_once(table, problems)
    for name in (*(table.rows or ()), *table.columns, *table.by):
        if name not in known.labels:
            hint = nearest(name, known.labels)
            problems.add("undefined-name", name.where, f"a table has no axis `{name}` to show", hint, len(name))
    _conditions("where", table.where, known.labels, problems)
    _conditions("base", table.base or {}, known.exact, problems)
    for metric in table.metrics:
        claim_check.check_metric(metric, metric, known.figures, problems)
    _check_labels(table, known, problems)
    if table.window:
        time_window.check(table.window, _lasting(table, known), problems)


def _check_layout(table: Table, problems: Problems) -> None:
    """One that names none says itself what it shows."""
    if table.layout is None:
        for key in ("title", "rows"):
            if getattr(table, key) is None:
                hint = f"or `layout:`, one of {', '.join(LAYOUTS.names())}" if key == "rows" else ""
                problems.add("missing-key", table.location, f"`{key}` is missing", hint)
    elif table.layout not in LAYOUTS.names():
        problems.add("undefined-name", table.layout.where, *LAYOUTS.unknown(table.layout))
    if table.counters and table.layout != COUNTERS:
        hint = f"`layout: {COUNTERS}` does"
        problems.add("wrong-type", table.counters[0].where, "a table of this layout shows no `counters`", hint)
    if table.top is not None and not table.counters:
        problems.add("missing-key", table.location, "`counters` is missing: `top` says how many of them are shown")


def _check_labels(table: Table, known: Known, problems: Problems) -> None:
    names = known.names if table.labels else ()
    for name, text in table.labels.items():
        if name not in names:
            message = f"labels: there is nothing called `{name}`"
            problems.add("undefined-name", key_location(text, text.where), message, nearest(name, names), len(name))
        if not text.strip():
            problems.add("out-of-range", text.where, f"labels: `{name}` is called nothing")


def _lasting(table: Table, known: Known) -> Mapping[str, float]:
    """The steps that a table shows; of one that there is not, something is said already."""
    said = table.where.get(STEP, known.seconds)
    shown = (said,) if isinstance(said, str) else said
    return {name: known.seconds[name] for name in shown if name in known.seconds}


def _check_once(table: Table, problems: Problems) -> None:
    seen: dict[str, str] = {}
    for key in ("rows", "columns", "by"):
        for name in getattr(table, key) or ():
            if name in seen:
                message = f"`{name}` is in `{seen[name]}`" + ("" if seen[name] == key else f" and in `{key}`")
                problems.add("defined-twice", name.where, f"{message}: a table shows an axis once", width=len(name))
            seen[name] = key


def _conditions(
    what: str, given: Mapping[str, Text | tuple[Text, ...]], known: Mapping[str, set[str]], problems: Problems
) -> None:
    for axis, said in given.items():
        for label in said if isinstance(said, tuple) else (said,):
            if axis not in known:
                where = key_location(label, label.where)
                hint = nearest(axis, known)
                problems.add("undefined-name", where, f"{what}: there is no axis `{axis}`", hint, len(axis))
                break
            if label not in known[axis]:
                message = f"{what}: axis `{axis}` has no cell at `{label}`"
                problems.add("undefined-name", label.where, message, nearest(label, known[axis]), len(label))


def _claim(said: Claim, loads: int) -> Mapping[str, Json]:
    """`confirm`: so many loads first, then so many fresh ones."""
    fresh: Mapping[str, Json] = {} if said.confirm is None else {"confirm": {"first": loads, "fresh": said.confirm}}
    return {**_plain(said), **fresh}


def _plain(said: Table | Claim) -> Mapping[str, Json]:
    return {name: _text(value) for name, value in said.model_dump(exclude_defaults=True).items()}


def _text(value: object) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _text(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_text(inner) for inner in value]
    return value if isinstance(value, bool | int | float) else str(value)
