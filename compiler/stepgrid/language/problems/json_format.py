"""Problems as data for other programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stepgrid.language.problems.problem import Problem


def records(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    return [record(problem) for problem in problems]


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
