"""stepgrid history: one series over all releases and days, with its changes and what was noted of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from glob import glob
from pathlib import Path

from stepgrid.cli.failures import CommandError
from stepgrid.cli.output import add_output, format_of, write_output
from stepgrid.cli.report import SPEC_ENDINGS
from stepgrid.cli.spec_arguments import add_where, parse_quantity
from stepgrid.errors import FINE, PROBLEMS
from stepgrid.host.terminal_output import Paint
from stepgrid.language.problems import Problems, format_problems, nearest
from stepgrid.model.units import counted
from stepgrid.summarize.formats import json_text
from stepgrid.workflow import host_plan
from stepgrid_judge.file_arguments import add_columns, is_there, judge_request, read_files
from stepgrid_judge.history_forms import add_notes, draw, history_document, history_lines, history_title, make_page
from stepgrid_judge.memory import Note, spec_notes
from stepgrid_judge.series import Series, file_series, select, store_series
from stepgrid_page import drawing

FORMATS = ("text", "html", "json", "svg")
MOST_SHOWN = 40  # rungs of a text: the newest


def add_history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="*", metavar="SPEC|FILE|SERIES",
        help="a spec whose results are stored, or files as of `judge`; then steps, or names of series with `*`",
    )  # fmt: skip
    add_columns(parser)
    add_where(parser)
    parser.add_argument("--smallest-effect", metavar="SHARE", default="2%", help="what counts as a change (2%%)")
    parser.add_argument("--all", action="store_true", help="list everything: each release or day")
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
        series = store_series(host_plan.store(), lambda stored: spec in (None, stored.spec), effect)
    chosen = [one for one in select(series, patterns) if _is_chosen(one, args)]
    if not chosen:
        raise CommandError(_none(series, specs, patterns))
    chosen = add_notes(chosen, _read_all_notes(chosen))
    form = args.format or format_of(args.output, FORMATS, "text")
    write_output(_text(chosen, form, args.all), args.output, args.replace)
    return FINE


def _is_file(word: str) -> bool:
    path = word.partition("=")[2] or word
    return not word or is_there(word) or is_there(path) or bool("=" in word and glob(path))  # noqa: PTH207


def _none(series: Sequence[Series], specs: Sequence[str], patterns: Sequence[str]) -> str:
    subject = f"there is no file or series `{patterns[0]}`" if patterns else ""
    if series:
        names = nearest((patterns or ["?"])[0], [one.name for one in series])
        return f"{subject or 'no series has this metric and these labels'}: {names}"
    results = f"no results of {specs[0]} are here" if specs else f"{host_plan.store().root} has no results"
    return f"{f'{subject}; ' if subject else ''}{results}: `stepgrid run` makes them, `stepgrid report` their tables"


def _is_chosen(series: Series, args: argparse.Namespace) -> bool:
    wanted = [condition.partition("=")[::2] for condition in args.where]
    return args.metric in ("", series.metric.name) and all(
        dict(series.labels).get(axis) == label for axis, label in wanted
    )


def _read_all_notes(series: Sequence[Series]) -> dict[str, Sequence[Note]]:
    """Read the notes of each spec; a fault ends the command."""
    problems = Problems()
    notes = {one.spec: spec_notes(one.spec, problems) for one in series}
    if problems.errors:
        raise CommandError(format_problems(problems.errors), PROBLEMS)
    return notes


def _text(series: Sequence[Series], form: str, is_whole: bool) -> str:
    match form:
        case "json":
            return json_text([history_document(one) for one in series]) + "\n"
        case "html":
            return make_page(history_title(series), series)
        case "svg":
            if len(series) > 1:
                raise CommandError(
                    f"{counted(len(series), 'series')}: a picture has one; name it, or take --format html"
                )
            return drawing.stand_alone(draw(series[0]))
    paint = Paint.for_stream(sys.stdout)
    most = sys.maxsize if is_whole else MOST_SHOWN
    blocks = ["\n".join(history_lines(one, paint, most if len(series) == 1 or is_whole else 0)) for one in series]
    return "\n".join(f"{block}\n" for block in blocks)
