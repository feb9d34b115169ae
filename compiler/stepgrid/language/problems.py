"""Problems of a spec: collected as data, then shown as text, as GitHub's annotations or as JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from stepgrid.errors import PROBLEMS, StepgridError
from stepgrid.language.files import head
from stepgrid.model.records import Json
from stepgrid.model.units import counted
from stepgrid.package import SPECS

if TYPE_CHECKING:
    from stepgrid.model.plan import Plan

MOST_SHOWN = 200  # problems that are shown as text
LONGEST = 120  # characters of what a message quotes
MOST_NAMES = 2_000  # compared with a misspelt one, which takes some milliseconds
EXCERPT_WIDTH = 100  # characters of an excerpt
_DEFINITION = re.compile(r"^    ([\w.]+):", re.MULTILINE)  # in a library, below its kind
_QUOTED_LONG = re.compile(rf"`([^`]{{{LONGEST}}})[^`]+`")


class Location(NamedTuple):
    file: str
    line: int  # from 1
    column: int  # from 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @classmethod
    def read(cls, text: str) -> Location:
        """Read file:line:column."""
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
    """A spec that cannot be used, with all of its problems.

    `draft` is the plan of what is right; its builds may show more faults, so that all of them come at once."""

    status = PROBLEMS

    def __init__(self, problems: Iterable[Problem], draft: Plan | None = None) -> None:
        self.problems, self.draft = tuple(problems), draft
        super().__init__("; ".join(f"{p.where}: {p.message}" for p in self.problems))


class Problems:
    """Collects problems, so that one look at a spec shows all of its faults."""

    def __init__(self) -> None:
        self._steps: dict[Problem, list[str]] = {}  # a fault that many cells meet is one problem
        self._first: dict[Problem, Problem] = {}  # by problem without hint, which may differ between cells
        self.unread: list[str] = []  # files that could not be read: an undefined name may be defined in them

    def add(self, code: str, where: Location, message: str, hint: str = "", width: int = 1) -> None:
        """Add an error."""
        self.append(Problem(code, where, message, hint, width=width))

    def warn(self, code: str, where: Location, message: str, hint: str = "", width: int = 1) -> None:
        self.append(Problem(code, where, message, hint, "warning", width))

    def undefined(self, noun: str, name: str, where: Location, names: Iterable[str]) -> None:
        """Add an error for a name that neither the spec nor its includes define."""
        if not self.unread:
            hint = "" if self.many else nearest_definition(name, names)
            self.add("undefined-name", where, f"there is no {noun} `{name}`", hint, len(name))

    def append(self, problem: Problem, step: str = "") -> None:
        """Add a problem; if many steps have it, it is one that names them."""
        if len(problem.message) > LONGEST:
            problem = problem._replace(message=_QUOTED_LONG.sub(r"`\1…`", problem.message))
        problem = self._first.setdefault(problem._replace(hint=""), problem)
        steps = self._steps.setdefault(problem, [])
        if step and step not in steps:
            steps.append(step)

    @property
    def many(self) -> bool:
        """More than are shown: these get no suggestions."""
        return len(self._steps) > MOST_SHOWN

    @property
    def items(self) -> list[Problem]:
        named = [_name_steps(problem, steps) for problem, steps in self._steps.items()]
        return sorted(named, key=lambda problem: (problem.where, problem.code))

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.items if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self.items if problem.severity == "warning"]

    def stop_on_errors(self) -> None:
        if self.errors:
            raise SpecError(self.items)


def _name_steps(problem: Problem, steps: list[str]) -> Problem:
    """Put the steps before the sentence: step `a`, steps `a` and `b`."""
    if not steps:
        return problem
    names = [f"`{step}`" for step in steps[:5]] + (["others"] if len(steps) > 5 else [])
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return problem._replace(message=f"step{'s' if len(names) > 1 else ''} {listed}: {problem.message}")


def nearest(name: str, names: Iterable[str]) -> str:
    """Write a hint with the name that was probably meant, or with those that exist."""
    choices = sorted(set(names))
    if (close := nearest_name(name, choices)) is not None:
        return f"did you mean `{close}`?"
    if not choices:
        return "there is none here"
    return f"known here: {', '.join(choices[:12])}{', …' if len(choices) > 12 else ''}"


def nearest_definition(name: str, names: Iterable[str]) -> str:
    """Write a hint with the definition that was meant, which may stand in a library that is not included."""
    choices, files = sorted(set(names)), sorted((SPECS / "library").glob("*.yaml"))
    shipped = {name: file.name for file in files for name in _DEFINITION.findall(file.read_text(encoding="utf-8"))}
    shipped_name = name if name in shipped else None
    if shipped_name is None and nearest_name(name, choices) is None:
        shipped_name = nearest_name(name, sorted(shipped))
    if shipped_name is None:
        return nearest(name, choices)
    include = f"`include: [library/{shipped[shipped_name]}]` defines it"
    return include if shipped_name == name else f"did you mean `{shipped_name}`? {include}"


def nearest_name(name: str, names: Collection[str]) -> str | None:
    """Find the name that was probably meant; each of its words must be close.

    `redis_benchmark` is another program than `insert_benchmark`."""
    from difflib import SequenceMatcher

    def is_close(choice: str) -> bool:
        pairs = list(zip(name.split("_"), choice.split("_"), strict=False))
        if "_" not in name or name.count("_") != choice.count("_"):
            return True
        return all(SequenceMatcher(None, *pair).ratio() >= 0.5 for pair in pairs)

    return next(filter(is_close, close_names(name, names, 3)), None)


def close_names(name: str, names: Collection[str], most: int = 1) -> list[str]:
    """Find close names, except among very many: nobody has written those by hand."""
    from difflib import get_close_matches

    return get_close_matches(name, names, n=most) if len(names) <= MOST_NAMES else []


_HIDDEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")  # moves the cursor of a terminal, or the caret


def format_problems(problems: Iterable[Problem]) -> str:
    """Format place, sentence, the line with a caret, and hint; if they are many, errors come first."""
    items = list(problems)
    if len(items) <= MOST_SHOWN:
        return "\n\n".join(map(_format, items))
    first = sorted(items, key=lambda problem: problem.severity == "warning")[:MOST_SHOWN]
    omitted = counted(len(items) - MOST_SHOWN, "more problem")
    return "\n\n".join([*map(_format, first), f"… and {omitted}: `stepgrid check SPEC --format json` has all"])


def count_problems(problems: Sequence[Problem]) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    parts = [counted(count, name) for count, name in ((errors, "error"), (warnings, "warning")) if count]
    return " and ".join(parts) or "no problems"


def _format(problem: Problem) -> str:
    first = f"{problem.where}: {problem.severity}[{problem.code}]: {_visible(problem.message)}"
    lines = [first, *_excerpt(problem)]
    if problem.hint:
        lines.append(f"   = {_visible(problem.hint)}")
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
    """Cut a long line around the column, and return where the column is then."""
    if len(line) <= EXCERPT_WIDTH:
        return line, column
    start = max(0, min(column - EXCERPT_WIDTH // 2, len(line) - EXCERPT_WIDTH))
    end = start + EXCERPT_WIDTH
    before, after = "…" if start else "", "…" if end < len(line) else ""
    return before + line[start:end] + after, column - start + len(before)


@lru_cache(maxsize=32)
def _source(file: str) -> Sequence[str]:
    """Read specs alone: an excerpt of any other file would show its content to whoever sees the problem."""
    if not file.endswith((".yaml", ".yml")):
        return ()
    try:
        text = head(file).decode("utf-8-sig", errors="replace")
    except OSError:
        return ()
    return [*mask_passwords(map(_visible, text.split("\n")))]


def _visible(text: str) -> str:
    return _HIDDEN.sub("\ufffd", text)


_SECRET = r"""(?:password|notif\w*)["']?\s*:"""  # also `notify`, however it is misspelt
_PASSWORD = re.compile(
    rf"""(?P<key>\b{_SECRET}\s+)(?P<value>"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^\s"'#].*)""", re.IGNORECASE
)
_VALUE_END = re.compile(r",(?=\s)|(?<!\s)\s*+\}|(?<!\s)\s++#")  # of a value that has no quotes, within braces
_PASSWORD_KEY = re.compile(rf"""(?P<before>[\s-]*)["']?{_SECRET}(?:\s|$)""", re.IGNORECASE)  # on its own line


def mask_passwords(lines: Iterable[str]) -> Iterator[str]:
    """Mask passwords and webhooks in lines of a file; lines further right below the key belong to its value."""
    key_indent: int | None = None
    for line in lines:
        text = line.lstrip()
        indent = len(line) - len(text)
        if key_indent is not None and (indent > key_indent or not text):
            yield line[:indent] + "*" * len(text)
            continue
        key = _PASSWORD_KEY.match(line)
        key_indent = len(key["before"]) if key else None
        yield _PASSWORD.sub(_stars, line)


def _stars(match: re.Match[str]) -> str:
    """Replace a value by as many stars, so that what is underlined stays where it is."""
    value, line = match["value"], match.string
    end = _VALUE_END.search(value) if value[0] not in "\"'" and "{" in line[: match.start()] else None
    length = end.start() if end else len(value.rstrip())
    return f"{match['key']}{'*' * length}{_PASSWORD.sub(_stars, value[length:])}"


def format_annotation(problem: Problem) -> str:
    """Format a problem for a pull request on GitHub."""
    where = problem.where
    properties = {"file": where.file, "line": str(where.line), "col": str(where.column), "title": problem.code}
    message = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    return workflow_command(problem.severity, properties, message)


def workflow_command(level: str, properties: Mapping[str, str], text: str) -> str:
    """Write a command of GitHub Actions: `level` is error, warning or notice."""

    def escape(data: str) -> str:
        return data.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    listed = ",".join(
        f"{name}={escape(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    )
    return f"::{level} {listed}::{escape(text)}"


def problem_record(problem: Problem) -> dict[str, Json]:
    """Write a problem as `check --format json` has it."""
    return {
        "code": problem.code,
        "severity": problem.severity,
        **problem.where._asdict(),
        "message": problem.message,
        "hint": problem.hint,
    }
