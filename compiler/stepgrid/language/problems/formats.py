"""Problems as text (place, sentence, the line with a caret, what to do), as GitHub's annotations, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from stepgrid.language.problems.password_mask import masked_all
from stepgrid.language.problems.problem import MOST_SHOWN, Problem
from stepgrid.language.regular_file import head
from stepgrid.model.units import counted

WIDTH = 100  # of what is shown of a line
SPECS = (".yaml", ".yml")
_HIDDEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")  # moves the cursor of a terminal, or the caret


def text(problems: Iterable[Problem]) -> str:
    """Errors before warnings where there are more than anybody reads."""
    found = list(problems)
    if len(found) <= MOST_SHOWN:
        return "\n\n".join(map(_one, found))
    shown = sorted(found, key=lambda problem: problem.severity == "warning")[:MOST_SHOWN]
    rest = f"… and {counted(len(found) - MOST_SHOWN, 'more problem')}: `stepgrid check SPEC --format json` has all"
    return "\n\n".join([*map(_one, shown), rest])


def in_all(problems: Sequence[Problem]) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    parts = [counted(count, name) for count, name in ((errors, "error"), (warnings, "warning")) if count]
    return " and ".join(parts) or "no problems"


def _one(problem: Problem) -> str:
    head = f"{problem.where}: {problem.severity}[{problem.code}]: {_seen(problem.message)}"
    lines = [head, *_excerpt(problem)]
    if problem.hint:
        lines.append(f"   = {_seen(problem.hint)}")
    return "\n".join(lines)


def _excerpt(problem: Problem) -> list[str]:
    source = _source(problem.where.file)
    if not 0 < problem.where.line <= len(source):
        return []
    line, column = _cut(source[problem.where.line - 1], problem.where.column - 1)
    number = str(problem.where.line)
    carets = "^" * max(1, min(problem.width, len(line) - column))
    # a tab before the caret stays a tab, so that the caret stands below its character
    indent = "".join("\t" if character == "\t" else " " for character in line[:column].ljust(column))
    return [f"{number:>4} | {line}", f"     | {indent}{carets}"]


def _cut(line: str, column: int) -> tuple[str, int]:
    """A long line around the column, and where the column is then."""
    if len(line) <= WIDTH:
        return line, column
    start = max(0, min(column - WIDTH // 2, len(line) - WIDTH))
    end = start + WIDTH
    before, after = "…" if start else "", "…" if end < len(line) else ""
    return before + line[start:end] + after, column - start + len(before)


@lru_cache(maxsize=32)
def _source(file: str) -> Sequence[str]:
    """Of specs alone: an excerpt of any other file would tell its content to whoever sees the problem."""
    if not file.endswith(SPECS):
        return ()
    try:
        shown = head(file).decode("utf-8-sig", errors="replace")
    except OSError:
        return ()
    return [*masked_all(map(_seen, shown.split("\n")))]


def _seen(text: str) -> str:
    return _HIDDEN.sub("\ufffd", text)


def annotation(problem: Problem) -> str:
    """For a pull request on GitHub."""
    where = problem.where
    place = {"file": where.file, "line": str(where.line), "col": str(where.column), "title": problem.code}
    said = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    return workflow_command(problem.severity, place, said)


def workflow_command(level: str, properties: Mapping[str, str], text: str) -> str:
    """A workflow command of GitHub Actions: `level` is error, warning or notice."""
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {said}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def record(problem: Problem) -> dict[str, Any]:
    return {
        "code": problem.code,
        "severity": problem.severity,
        "file": problem.where.file,
        "line": problem.where.line,
        "column": problem.where.column,
        "message": problem.message,
        "hint": problem.hint,
    }
