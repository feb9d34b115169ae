"""Arguments of commands that read files of other tools, and the files that they name."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path

import re2

from stepgrid.cli.failures import CommandError
from stepgrid_judge.figures import JudgeRequest
from stepgrid_judge.readers import HIGHER, LOWER, Columns, ForeignFile, read


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add what says how files are read."""
    parser.add_argument("--arm", metavar="COL", default="", help="of a table: the column of arms")
    parser.add_argument("--step", metavar="COL", default="", help="of a table: the column of benchmarks")
    parser.add_argument("--load", metavar="COL", default="", help="of a table: the column of loads")
    parser.add_argument("--axis", metavar="COL", action="append", default=[], help="of a table: a column of labels")
    parser.add_argument("--metric", metavar="NAME", default="", help="the metric (the first)")
    parser.add_argument("--better", choices=(HIGHER, LOWER), default="", help="which direction of the metric is better")
    parser.add_argument(
        "--pattern", metavar="REGEX", help="of a text: the number, as group 1 or `value`; `step` names it"
    )


def judge_request(args: argparse.Namespace, effect: float) -> JudgeRequest:
    return JudgeRequest(getattr(args, "base", ""), args.metric, args.better, (), effect)


def is_there(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - a word may be longer than any name of a file


def read_files(args: argparse.Namespace, words: Sequence[str]) -> Iterator[tuple[str, ForeignFile]]:
    """Read the named files; a name with `*` that the shell has not expanded is a pattern."""
    if not words:
        raise CommandError("which files? `stepgrid judge old=old-*.json new=new-*.json`; `--how` says how to make them")
    columns = Columns(args.arm, args.step, args.load, args.metric, tuple(args.axis))
    pattern = None
    if args.pattern is not None:
        try:
            re.compile(args.pattern)  # whose message is the better one
            pattern = re2.compile(f"(?m){args.pattern}")  # in linear time, whatever it is
        except (re.error, re2.error) as error:
            raise CommandError(f"--pattern: {error}") from None
    for word in words:
        arm, equals, path = word.partition("=")
        if not equals or is_there(word):
            arm, path = "", word
        if not path:
            raise CommandError(f"`{word}` names no file")
        is_pattern = not is_there(path) and set(path) & set("*?[")
        paths = sorted(glob(path)) if is_pattern else [path]  # noqa: PTH207 - Path.glob takes no absolute pattern
        if not paths:
            raise CommandError(f"no file is called {path}")
        for name in paths:
            yield arm, read(Path(name), columns, pattern)
