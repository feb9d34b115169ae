"""Problems as workflow commands: GitHub shows them at their lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable

from stepgrid.language.problems.problem import Problem


def lines(problems: Iterable[Problem]) -> list[str]:
    return [line(problem) for problem in problems]


def line(problem: Problem) -> str:
    where = problem.where
    place = f"file={_property(where.file)},line={where.line},col={where.column}"
    said = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    return f"::{problem.severity} {place},title={_property(problem.code)}::{_data(said)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
