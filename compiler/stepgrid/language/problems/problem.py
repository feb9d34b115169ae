"""Problems are data: found anywhere, collected, shown by `render`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from stepgrid.errors import StepgridError
from stepgrid.language.problems.suggestion import nearest

if TYPE_CHECKING:
    from stepgrid.model.plan import Plan

MOST_SHOWN = 200  # problems that are shown as text
LONGEST = 120  # characters of what a message quotes
_QUOTED_LONG = re.compile(rf"`([^`]{{{LONGEST}}})[^`]+`")


class Location(NamedTuple):
    file: str
    line: int  # from 1
    column: int  # from 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @classmethod
    def read(cls, text: str) -> Location:
        """From file:line:column."""
        file, line, column = text.rsplit(":", 2)
        return cls(file, int(line), int(column))


class Problem(NamedTuple):
    code: str
    where: Location
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"
    width: int = 1  # characters to underline


class SpecError(StepgridError):
    """A spec that cannot be used, with everything that is wrong with it.

    `draft` is the plan of what is right; its builds may show more faults, so that all of them come at once."""

    def __init__(self, problems: Iterable[Problem], draft: Plan | None = None) -> None:
        self.problems, self.draft = tuple(problems), draft
        super().__init__("; ".join(f"{p.where}: {p.message}" for p in self.problems))


class Problems:
    """Collects, so that one look at a spec shows all of its faults."""

    def __init__(self) -> None:
        self._found: dict[Problem, list[str]] = {}  # a fault that many cells meet is one problem
        self._told: dict[Problem, Problem] = {}  # also where what is known, and so the hint, differs between them
        self.unread: list[str] = []  # files that could not be read: what is not defined may be in them

    def add(self, code: str, where: Location, message: str, hint: str = "", width: int = 1, step: str = "") -> None:
        """`step`: whose fault it is; a fault of many steps is one problem that names them."""
        self._add(Problem(code, where, message, hint, width=width), step)

    def add_found(self, problem: Problem) -> None:
        self._add(problem)

    def undefined(self, what: str, name: str, where: Location, known: Iterable[str]) -> None:
        """A name that neither the spec nor what it includes defines."""
        if not self.unread:
            hint = "" if self.many else nearest(name, known)
            self.add("undefined-name", where, f"there is no {what} `{name}`", hint, len(name))

    def warn(self, code: str, where: Location, message: str, hint: str = "", width: int = 1) -> None:
        self._add(Problem(code, where, message, hint, "warning", width))

    @property
    def many(self) -> bool:
        """More than are shown: for those nobody looks for what was meant."""
        return len(self._found) > MOST_SHOWN

    @property
    def found(self) -> list[Problem]:
        said = [_named(problem, steps) for problem, steps in self._found.items()]
        return sorted(said, key=lambda problem: (problem.where, problem.code))

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.found if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self.found if problem.severity == "warning"]

    def stop_on_errors(self) -> None:
        if self.errors:
            raise SpecError(self.found)

    def _add(self, problem: Problem, step: str = "") -> None:
        if len(problem.message) > LONGEST:
            problem = problem._replace(message=_QUOTED_LONG.sub(r"`\1…`", problem.message))
        problem = self._told.setdefault(problem._replace(hint=""), problem)
        steps = self._found.setdefault(problem, [])
        if step and step not in steps:
            steps.append(step)


def _named(problem: Problem, steps: list[str]) -> Problem:
    """The steps before the sentence: step `a`, steps `a` and `b`."""
    if not steps:
        return problem
    names = [f"`{step}`" for step in steps[:5]] + (["others"] if len(steps) > 5 else [])
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return problem._replace(message=f"step{'s' if len(names) > 1 else ''} {listed}: {problem.message}")
