"""Forms of a history: text, data, picture, page, and what a site has of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from stepgrid.host.terminal_output import INDENT, Paint, wrap
from stepgrid.language.problems import Problems
from stepgrid.model.plan import Plan
from stepgrid.model.records import replace
from stepgrid.model.table import Cell, Column, Table, group
from stepgrid.model.units import counted, percent, short_figure
from stepgrid.store.store import Store
from stepgrid.summarize.formats import html_body, text_lines
from stepgrid.summarize.statistics.verdicts import ARROWS, BAD, GOOD
from stepgrid_answers.ladders import FEWEST_RUNGS
from stepgrid_answers.levels import FEWEST_APART
from stepgrid_judge.memory import Note, spec_notes
from stepgrid_judge.series import Rung, Series, SeriesChange, digest, store_series
from stepgrid_page import drawing
from stepgrid_page.drawing import LETTER, LINE, WIDE
from stepgrid_page.html_page import render
from stepgrid_page.static_site import History, HistoryEntry

MOST_LISTED = 40  # rungs that did nothing
MOST_SERIES = 200  # of a page
BARS = "▁▂▃▄▅▆▇█"


def add_notes(series: Sequence[Series], notes: Mapping[str, Sequence[Note]]) -> list[Series]:
    """Put conclusions beside the changes of each series."""
    return [
        replace(one, changes=tuple(_noted(one, change, notes.get(one.spec, ())) for change in one.changes))
        for one in series
    ]


def _noted(series: Series, change: SeriesChange, notes: Sequence[Note]) -> SeriesChange:
    labels = dict(series.labels)
    matches = [
        note for note in notes
        if note.is_about(series.step, series.metric.name, labels) and note.is_of(change.rung.names)
    ]  # fmt: skip
    return replace(change, conclusion=matches[-1].conclusion) if matches else change


def history_title(series: Sequence[Series]) -> str:
    specs = list(dict.fromkeys(one.spec for one in series if one.spec))
    return f"History of {', '.join(specs) or series[0].name}"


def span(series: Series) -> str:
    """Say how long it is: 10 releases, 2026-11-20 to 2026-11-29, on vm."""
    days = sorted({rung.day for rung in series.rungs if rung.day})
    when = "" if not days else f", {days[0]}" if len(days) == 1 else f", {days[0]} to {days[-1]}"
    return f"{counted(len(series.rungs), series.noun)}{when}{f', on {series.host}' if series.host else ''}"


def history_lines(series: Series, paint: Paint, most: int) -> Iterator[str]:
    """Write a head, the rungs with their level, and the changes."""
    where = f"{series.spec}: " if series.spec else ""
    yield paint(f"{where}{series.name}", "bold") + f"  {span(series)}"
    rungs = series.rungs[-most:] if most else ()
    if len(series.rungs) > len(rungs) and most:
        yield f"{INDENT}{counted(len(series.rungs) - len(rungs), 'earlier one')}: --all"
    changes = {change.rung.name: change for change in series.changes}
    yield from (_painted(line, paint) for line in text_lines(_table(series, rungs, changes))) if rungs else ()
    if not most:
        yield f"{INDENT}{_bars(series.rungs)}"
    for change in series.changes:
        yield from wrap(f"from {change.rung.name} on: {change.text}", INDENT, INDENT * 2)
    if not series.changes:
        yield from wrap(_no_change(series), INDENT, INDENT)
    yield from (f"{INDENT}{text}" for text in _omitted(series))


def _omitted(series: Series) -> list[str]:
    reasons = {"a load has no figure above 0": series.idle, "others used the host in most loads": series.busy}
    return [f"in no level, for {why}: {', '.join(names[-MOST_LISTED:])}" for why, names in reasons.items() if names]


def _no_change(series: Series) -> str:
    if not series.is_judged:
        fewest = f"{FEWEST_APART}{' of different runs' if series.spec else ''}"
        together = f"{FEWEST_RUNGS} with several loads of each in one run" if series.spec else ""
        needs = " or ".join(filter(None, (fewest if len(series.rungs) < FEWEST_APART else "", together)))
        return f"too few {series.noun}s or loads to tell a change from noise: it takes {needs}"
    ratios = [after.mean / before.mean for before, after in pairwise(series.rungs)]
    sizes = sorted(max(ratio, 1 / ratio) - 1 for ratio in ratios)
    steps = f"half of the {counted(len(sizes), 'step')} are at most {percent(sizes[len(sizes) // 2])}"
    if min(ratios) > 1 or max(ratios) < 1:
        growth = series.rungs[-1].mean / series.rungs[0].mean
        return f"no change of level, but each step goes the same way, {growth:.2f}× in all; {steps}"
    return f"no change of level; {steps}"


def _table(series: Series, rungs: Sequence[Rung], changes: Mapping[str, SeriesChange]) -> Table:
    bars = dict(zip((rung.name for rung in series.rungs), _bars(series.rungs), strict=True))
    columns = (Column(series.noun, label=True), Column(series.metric.heading), Column("loads"),
               Column("", is_text=True), Column("change", is_text=True))  # fmt: skip
    rows = []
    for rung in rungs:
        change = changes.get(rung.name)
        text = f"{ARROWS.get(change.word, '')} {change.word}" if change else ""
        figure = short_figure(rung.mean, series.metric.unit)
        rows.append(tuple(map(Cell, (rung.name, figure, str(len(rung.values)), bars[rung.name], text))))
    return Table("", columns, tuple(rows))


def _painted(line: str, paint: Paint) -> str:
    colour = "green" if any(f"{ARROWS[word]} " in line and word in line for word in GOOD) else ""
    colour = colour or ("red" if any(f"{ARROWS[word]} " in line and word in line for word in BAD) else "")
    return paint(line, colour) if colour else line


def _bars(rungs: Sequence[Rung]) -> str:
    """Draw a figure of a line for each rung, from the lowest to the highest."""
    means = [rung.mean for rung in rungs]
    low, high = min(means, default=0.0), max(means, default=0.0)
    return "".join(BARS[min(int((mean - low) / (high - low) * len(BARS)), 7) if high > low else 3] for mean in means)


def history_document(series: Series) -> Mapping[str, object]:
    return {
        "name": series.name,
        "spec": series.spec,
        "step": series.step,
        "labels": dict(series.labels),
        "metric": {"name": series.metric.name, "unit": series.metric.unit, "better": series.metric.better},
        "host": series.host,
        "rungs": [
            {
                "name": rung.name,
                "day": rung.day,
                "mean": rung.mean,
                "loads": [list(runs) for runs in rung.values.values()],
            }
            for rung in series.rungs
        ],
        "changes": [
            {
                "from": change.rung.name,
                "before": list(change.previous),
                "ratio": change.change.ratio,
                "interval": [change.change.low, change.change.high],
                "verdict": change.word,
                "concluded": change.conclusion.sentence if change.conclusion else None,
            }
            for change in series.changes
        ],
        "idle": list(series.idle),
        "busy": list(series.busy),
    }


# Picture and page

LEFT, RIGHT, TOP, HEIGHT, RADIUS = 64.0, 12.0, 42.0, 180.0, 4.5


def draw(series: Series, width: float = WIDE) -> str:
    """Draw loads as dots, each rung's mean, and the level that it is in; changes are named where they begin."""
    foot, count = TOP + HEIGHT, len(series.rungs)
    values = [value for rung in series.rungs for runs in rung.values.values() for value in runs]
    y = drawing.scale(values or [1.0], foot, TOP)
    x = drawing.Scale(-0.5, count - 0.5, LEFT, width - RIGHT)
    parts = [drawing.y_axis(y, LEFT, width - RIGHT, series.metric.heading)]
    ticks = [(float(at), rung.name) for at, rung in enumerate(series.rungs)]
    for at, name in drawing.room_for(x, ticks):
        parts.append(drawing.text((x(at), foot + LINE), name, "middle", "soft"))
    starts = [0, *(_index(series, change) for change in series.changes), count]
    for first, end in pairwise(starts if count else ()):
        level = _level(series.rungs[first:end])
        parts.append(drawing.line((x(first - 0.4), y(level)), (x(end - 0.6), y(level)), "one", 2))
    for change in series.changes:
        at = x(_index(series, change) - 0.5)
        kind = "up" if change.word in GOOD else "down" if change.word in BAD else "soft"
        label = f"{change.change.ratio:.2f}×{f' {change.conclusion.kind}' if change.conclusion else ''}"
        is_right = at > width - LETTER * len(label) - RIGHT
        parts.append(drawing.line((at, TOP - 6), (at, foot), "axis", dashed=True))
        parts.append(
            drawing.text((at - 4 if is_right else at + 4, TOP - 10), label, "end" if is_right else "start", kind)
        )
    for at, rung in enumerate(series.rungs):
        spots = [(x(at), y(value)) for runs in rung.values.values() for value in runs]
        title = f"{rung.name}: {short_figure(rung.mean, series.metric.unit)}, {counted(len(rung.values), 'load')}"
        mark = drawing.shape((x(at), y(rung.mean)), 0, RADIUS)
        parts.append(drawing.of_arm(series.name, 0, drawing.dots(spots) if len(spots) > 1 else "", mark, title=title))
    return drawing.svg(f"{series.name}: {span(series)}", width, foot + LINE + 8, *parts)


def _index(series: Series, change: SeriesChange) -> int:
    return [rung.name for rung in series.rungs].index(change.rung.name)


def _level(rungs: Sequence[Rung]) -> float:
    product = 1.0
    for rung in rungs:
        product *= rung.mean ** (1 / len(rungs))
    return product


def make_page(title: str, series: Sequence[Series], back: str = "") -> str:
    """Render a page of series: those with changes first."""
    ordered = sorted(series, key=lambda one: not one.changes)
    parts = [
        {
            "id": f"s-{one.key or digest(one.name)}",
            "name": one.name,
            "spec": one.spec,
            "span": span(one),
            "changes": [f"from `{change.rung.name}` on: {change.text}" for change in one.changes] or [_no_change(one)],
            "omitted": _omitted(one),
            "wide": draw(one),
            "narrow": draw(one, drawing.NARROW),
            "table": html_body(_table(one, one.rungs, {change.rung.name: change for change in one.changes})),
        }
        for one in ordered[:MOST_SERIES]
    ]
    values = {"title": title, "series": parts, "omitted": len(ordered) - len(parts), "back": back}
    return render("history.html.j2", values, script=False)


# Site


def make_histories(store: Store, plans: Sequence[Plan]) -> list[History]:
    """Make a page for each spec and scale of the plans whose series are long enough; the feed has their changes."""
    chosen = {(plan.spec, plan.scale) for plan in plans}
    series = store_series(store, lambda stored: (stored.spec, stored.scale) in chosen, are_named=False)
    long = [one for one in series if len(one.rungs) >= FEWEST_RUNGS]
    problems = Problems()  # a site is written whatever stands in notes.yaml: `history` and `report` name its faults
    long = add_notes(long, {one.spec: spec_notes(one.spec, problems) for one in long})
    histories: list[History] = []
    for spec, members in group((one.spec, one) for one in long).items():
        stem = re.sub(r"[^a-z0-9.]+", "-", str(spec).lower().replace(".yaml", "")).strip("-")
        title = f"History of {spec}"
        entries = tuple(_entry(one, change) for one in members for change in one.changes)
        name = f"{stem[:60]}-{digest(spec)}"  # the same whatever else is published
        histories.append(History(name, title, make_page(title, members, "../"), entries))
    return histories


def _entry(series: Series, change: SeriesChange) -> HistoryEntry:
    text = f"from {change.rung.name} on: {change.text}"
    day = datetime.fromisoformat(change.rung.day).replace(tzinfo=UTC)
    name = f"{series.key}:{change.rung.build}:{change.rung.day}"
    return HistoryEntry(f"urn:stepgrid:change:{name}", f"{series.name}: {change.word}", text, day)
