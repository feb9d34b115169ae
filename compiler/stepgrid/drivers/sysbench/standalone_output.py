"""Outputs of sysbench that people already have: one run, or several one after the other in one file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from stepgrid.drivers.sysbench.parser import facts, fatal, parse
from stepgrid.drivers.sysbench.parser.step import read
from stepgrid.model.figures import Figures, ParseError, PrintedStep

_HEAD = re.compile(r"^sysbench \S+ \(using .+\)$", re.MULTILINE)
_SCRIPT = re.compile(r"(?P<name>\w[\w.-]*)\.lua\b")


def printed(path: Path) -> Sequence[PrintedStep]:
    text = read(path)
    heads = [match.start() for match in _HEAD.finditer(text)]
    if not heads and "SQL statistics:\n" not in text:
        raise ParseError(
            f"{path}: no output of sysbench: neither its first line (`sysbench VERSION (using LUA)`) nor "
            "its statistics (`SQL statistics:`)"
        )
    begins = heads[1:] if len(heads) > 1 else []
    return [_step(part, path, number) for number, part in enumerate(_parts(text, begins), 1)]


def _parts(text: str, begins: Sequence[int]) -> Sequence[str]:
    """What precedes the first head, such as its command, is of the first run."""
    places = [0, *begins, len(text)]
    return [text[start:end] for start, end in pairwise(places)]


def _step(text: str, path: Path, number: int) -> PrintedStep:
    script = _SCRIPT.search(text)
    return PrintedStep(script["name"] if script else path.name, _figures(text, path, number))


def _figures(text: str, path: Path, number: int) -> Figures:
    """A run that failed has no figures, and says why."""
    try:
        return parse(text)
    except ParseError as problem:
        if not fatal(text):
            raise ParseError(f"{path}: run {number}: {problem}") from None
        return replace(Figures({}), facts=facts(text), warnings=[str(problem)])
