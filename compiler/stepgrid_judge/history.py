"""stepgrid history: one series over all releases and days, with its changes and what was noted of them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from glob import glob
from itertools import pairwise
from pathlib import Path
from typing import Any

from stepgrid.cli.failures import CommandError
from stepgrid.cli.output import add_output, format_of, write_output
from stepgrid.cli.report import SPEC_ENDINGS
from stepgrid.cli.spec_arguments import add_where, parse_quantity
from stepgrid.errors import FINE, PROBLEMS
from stepgrid.host.terminal_output import INDENT, Paint, wrap
from stepgrid.language.problems import Problems, format_problems, nearest
from stepgrid.model.plan import SMALLEST_EFFECT, is_imported
from stepgrid.model.records import replace
from stepgrid.model.table import Cell, Column, Table, group
from stepgrid.model.units import counted, percent, short_figure
from stepgrid.store.store import Store
from stepgrid.summarize.charts import drawing
from stepgrid.summarize.charts.drawing import LETTER, LINE, WIDE
from stepgrid.summarize.formats import html_body, json_text, text_lines
from stepgrid.summarize.html_page import render
from stepgrid.summarize.static_site import History, HistoryEntry
from stepgrid.summarize.statistics.verdicts import ARROWS, BAD, GOOD
from stepgrid.workflow import host_plan
from stepgrid_judge.commands import add_columns, judge_request, read_files
from stepgrid_judge.memory import Note, notes_path, read_notes
from stepgrid_judge.series import Rung, Series, SeriesChange, file_series, select, store_series

FORMATS = ("text", "html", "json", "svg")
MOST_SHOWN = 40  # rungs of a text: the newest
MOST_SERIES = 200  # of a page
FEWEST_RUNGS = 3  # of a series on a site
BARS = "▁▂▃▄▅▆▇█"


def add_history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="*", metavar="SPEC|FILE|SERIES",
        help="a spec whose results are stored, or files as of `judge`; then steps, or names of series with `*`",
    )  # fmt: skip
    add_columns(parser)
    add_where(parser)
    parser.add_argument("--smallest-effect", metavar="SHARE", default="2%", help="what counts as a change (2%%)")
    parser.add_argument("--all", action="store_true", help="list every release or day, not only the newest")
    parser.add_argument("--format", choices=FORMATS, help="the output format (text, or what -o ends with)")
    add_output(parser)


def run_history(args: argparse.Namespace) -> int:
    is_glob = {word: bool(set(word) & set("*?[")) and bool(glob(word)) for word in args.words}  # noqa: PTH207
    specs = [word for word in args.words if Path(word).suffix in SPEC_ENDINGS]
    files = [word for word in args.words if word not in specs and (_is_file(word) or is_glob[word])]
    patterns = [word for word in args.words if word not in specs and word not in files]
    if len(specs) > 1 or (specs and files):
        raise CommandError("name one spec, or files")
    effect = parse_quantity(args.smallest_effect, "percent") / 100
    if files:
        series = file_series(list(read_files(args, files)), judge_request(args, effect), effect)
    else:
        spec = host_plan.spec_name(specs[0]) if specs else None
        if spec is not None and not Path(spec).is_file():
            raise CommandError(f"there is no spec `{spec}`")
        series = store_series(host_plan.store(), spec, effect)
    chosen = [one for one in select(series, patterns) if _is_chosen(one, args)]
    if not chosen:
        names = [one.name for one in series] or ["none"]
        raise CommandError(
            f"no series is called that: {nearest((patterns or ['?'])[0], names)}" if series else _none(args)
        )
    chosen = add_notes(chosen, _read_all_notes(chosen))
    form = args.format or format_of(args.output, FORMATS, "text")
    write_output(_text(chosen, form, args.all), args.output, args.replace)
    return FINE


def _is_file(word: str) -> bool:
    path = Path(word.partition("=")[2] or word)
    return Path(word).exists() or path.exists() or bool("=" in word and glob(str(path)))  # noqa: PTH207


def _none(args: argparse.Namespace) -> str:
    place = f"{host_plan.store().root} has no results" if not args.words else f"no results of {args.words[0]} are here"
    return f"{place}: `stepgrid run` makes them, `stepgrid report` their tables"


def _is_chosen(series: Series, args: argparse.Namespace) -> bool:
    wanted = [condition.partition("=")[::2] for condition in args.where]
    return args.metric in ("", series.metric.name) and all(
        dict(series.labels).get(axis) == label for axis, label in wanted
    )


def _read_all_notes(series: Sequence[Series]) -> dict[str, list[Note]]:
    """Read the notes of each spec; a fault ends the command."""
    problems = Problems()
    notes = {one.spec: read_notes(_notes_of(one.spec), problems) for one in series}
    if problems.errors:
        raise CommandError(format_problems(problems.errors), PROBLEMS)
    return notes


def _notes_of(spec: str) -> Path:
    return notes_path(spec.partition(" (")[0] if spec and not is_imported(spec) else "")


def add_notes(series: Sequence[Series], notes: Mapping[str, Sequence[Note]]) -> list[Series]:
    """Put conclusions beside the changes of each series."""
    return [
        replace(one, changes=tuple(_noted(one, change, notes.get(one.spec, ())) for change in one.changes))
        for one in series
    ]


def _noted(series: Series, change: SeriesChange, notes: Sequence[Note]) -> SeriesChange:
    labels = dict(series.labels)
    found = [
        note for note in notes
        if note.is_about(series.step, series.metric.name, labels) and note.is_of(change.rung.names)
    ]  # fmt: skip
    return replace(change, conclusion=found[-1].conclusion) if found else change


# Forms


def _text(series: Sequence[Series], form: str, is_whole: bool) -> str:
    match form:
        case "json":
            return json_text([_document(one) for one in series]) + "\n"
        case "html":
            return make_page(_title(series), series)
        case "svg":
            if len(series) > 1:
                raise CommandError(
                    f"{counted(len(series), 'series')}: a picture has one; name it, or take --format html"
                )
            return drawing.stand_alone(draw(series[0]))
    paint = Paint.for_stream(sys.stdout)
    most = sys.maxsize if is_whole else MOST_SHOWN
    blocks = ["\n".join(_lines(one, paint, most if len(series) == 1 or is_whole else 0)) for one in series]
    return "\n".join(f"{block}\n" for block in blocks)


def _title(series: Sequence[Series]) -> str:
    specs = list(dict.fromkeys(one.spec for one in series if one.spec))
    return f"History of {', '.join(specs) or series[0].name}"


def span(series: Series) -> str:
    """Say how long it is: 10 releases, 2026-11-20 to 2026-11-29, on vm."""
    days = sorted({rung.day for rung in series.rungs if rung.day})
    when = "" if not days else f", {days[0]}" if len(days) == 1 else f", {days[0]} to {days[-1]}"
    noun = "day" if [rung.name for rung in series.rungs] == [rung.day for rung in series.rungs] else "release"
    return f"{counted(len(series.rungs), noun)}{when}{f', on {series.host}' if series.host else ''}"


def _lines(series: Series, paint: Paint, most: int) -> Iterator[str]:
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
    if series.idle:
        yield f"{INDENT}in no level, for a load of them did nothing: {', '.join(series.idle[-MOST_SHOWN:])}"


def _no_change(series: Series) -> str:
    steps, large = series.moves(1.0)
    if len(series.rungs) < FEWEST_RUNGS or not large:
        return "too few releases or days to tell a change from noise"
    logs = sorted(abs(_ratio(series, at) - 1) for at in range(1, len(series.rungs)))
    return f"no change of level; half of the {steps} steps are below {percent(logs[len(logs) // 2])}"


def _ratio(series: Series, at: int) -> float:
    ratio = series.rungs[at].mean / series.rungs[at - 1].mean
    return max(ratio, 1 / ratio)


def _table(series: Series, rungs: Sequence[Rung], changes: Mapping[str, SeriesChange]) -> Table:
    bars = dict(zip((rung.name for rung in series.rungs), _bars(series.rungs), strict=True))
    columns = (Column("release", label=True), Column(series.metric.heading), Column("loads"), Column("", is_text=True),
               Column("change", is_text=True))  # fmt: skip
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
    low, high = min(means), max(means)
    return "".join(BARS[min(int((mean - low) / (high - low) * len(BARS)), 7) if high > low else 3] for mean in means)


def _document(series: Series) -> Mapping[str, Any]:
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
    }


# Picture and page

LEFT, RIGHT, TOP, HEIGHT, RADIUS = 64.0, 12.0, 42.0, 180.0, 4.5


def draw(series: Series, width: float = WIDE) -> str:
    """Draw loads as dots, each rung's mean, and the level that it is in; changes are named where they begin."""
    foot, count = TOP + HEIGHT, len(series.rungs)
    values = [value for rung in series.rungs for runs in rung.values.values() for value in runs]
    y = drawing.scale(values, foot, TOP)
    x = drawing.Scale(-0.5, count - 0.5, LEFT, width - RIGHT)
    parts = [drawing.y_axis(y, LEFT, width - RIGHT, series.metric.heading)]
    ticks = [(float(at), rung.name) for at, rung in enumerate(series.rungs)]
    for at, name in drawing.room_for(x, ticks):
        parts.append(drawing.text((x(at), foot + LINE), name, "middle", "soft"))
    starts = [0, *(_index(series, change) for change in series.changes), count]
    for first, end in pairwise(starts):
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
            "id": f"s{number}",
            "name": one.name,
            "spec": one.spec,
            "span": span(one),
            "changes": [f"from `{change.rung.name}` on: {change.text}" for change in one.changes] or [_no_change(one)],
            "idle": one.idle,
            "wide": draw(one),
            "narrow": draw(one, drawing.NARROW),
            "table": html_body(_table(one, one.rungs, {change.rung.name: change for change in one.changes})),
        }
        for number, one in enumerate(ordered[:MOST_SERIES], 1)
    ]
    values = {"title": title, "series": parts, "omitted": len(ordered) - len(parts), "back": back}
    return render("history.html.j2", values, script=False)


# Site


def make_histories(store: Store) -> list[History]:
    """Make a page for each spec whose series are long enough; the feed has their changes."""
    long = [one for one in store_series(store, None, SMALLEST_EFFECT) if len(one.rungs) >= FEWEST_RUNGS]
    problems = Problems()  # a site is written whatever stands in notes.yaml: `history` and `report` name its faults
    long = add_notes(long, {one.spec: read_notes(_notes_of(one.spec), problems) for one in long})
    histories: list[History] = []
    for spec, members in group((one.spec, one) for one in long).items():
        stem = re.sub(r"[^a-z0-9.]+", "-", str(spec).lower().replace(".yaml", "")).strip("-")
        title = f"History of {spec}"
        entries = tuple(_entry(one, change) for one in members for change in one.changes)
        histories.append(History(f"{len(histories) + 1}-{stem}"[:80], title, make_page(title, members, "../"), entries))
    return histories


def _entry(series: Series, change: SeriesChange) -> HistoryEntry:
    text = f"from {change.rung.name} on: {change.text}"
    day = datetime.fromisoformat(change.rung.day).replace(tzinfo=UTC)
    name = re.sub(r"[^A-Za-z0-9.=-]+", "-", f"{series.spec}:{series.name}:{change.rung.name}")
    return HistoryEntry(f"urn:stepgrid:change:{name}", f"{series.name}: {change.word}", text, day)
