"""What `bench/fuzz.py` gives bytes to: the readers of what others wrote, each with what it may say of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.language.expressions import ExpressionError, evaluate
from stepgrid.language.problems import Problems
from stepgrid.language.spec_file import read_spec
from stepgrid.model.figures import ParseError
from stepgrid.plugins.registry import driver, parse_step, require_runner

NAMES = {"params": {"keys": 1000}, "version": "9.10.0", "cache": "lru", "x": 3, "y": None, "z": [1, 2.5, "a"]}
METRICS = {
    "qps": {"pattern": r"^qps (\S+)$"},
    "iops": {"json": "$.jobs[*].iops", "take": "sum"},
    "times": {"pattern": r"(\d+)", "take": "mean"},
}
OF_COMMAND = {
    "argv": ["x"],
    "metrics": METRICS,
    "series": {"file": "stdout", "head": "time, rate, a, b", "time": "time", "rate": "rate", "unit": "ms"},
}
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "insert_benchmark": {"action": "query", "clients": 2, "insert_rate": 10, "duration": 8.0},
    "vector_search": {"action": "search", "runs": 2},
    "sql": {"sql": ["select 1"]},
    "quiesce": {},
}
REPORTED = {"insert_benchmark": "report.jsonl", "vector_search": "report.jsonl"}  # else a step's figures are in stdout


class Target(NamedTuple):
    look: Callable[[bytes], object]
    allowed: tuple[type[Exception], ...]  # what it says of what it cannot read
    largest: int  # bytes of an input


def targets(folder: Path) -> dict[str, Target]:
    """`folder`: where files are put, in memory."""
    logs = {kind: Target(partial(_log, kind, folder), (ParseError, LookupError), 4096) for kind in _LOGS}
    steps = {kind: Target(partial(_step, kind, folder), (ParseError, OSError), 2048) for kind in SETTINGS}
    model = require_runner("command").settings_model()  # type: ignore[attr-defined]
    settings = model.model_validate(OF_COMMAND).model_dump(mode="json")
    command = Target(partial(_command, folder, settings), (ParseError, OSError), 1024)
    spec = Target(partial(_spec, folder), (), 4096)
    return {**logs, **steps, "command": command, "loader": spec, "expressions": Target(_expression, (), 200)}


_LOGS = ("db_bench", "sysbench", "linkbench")


def _log(kind: str, folder: Path, content: bytes) -> object:
    """As `stepgrid parse` reads it: a number of too many digits is a ValueError that it tells."""
    (folder / "log").write_bytes(content)
    try:
        return driver(kind).printed(folder / "log")  # type: ignore[attr-defined]
    except ValueError as error:
        return _digits(error)


def _step(kind: str, folder: Path, content: bytes) -> object:
    (folder / "stdout").write_bytes(b"")
    (folder / REPORTED.get(kind, "stdout")).write_bytes(content)
    return parse_step(require_runner(kind), folder, SETTINGS[kind])


def _digits(error: ValueError) -> None:
    """The one that Python itself has of digits, and those of JSON and UTF-8, which say what is wrong."""
    if not isinstance(error, json.JSONDecodeError | UnicodeDecodeError) and "4300 digits" not in str(error):
        raise error


def _command(folder: Path, settings: Mapping[str, Any], content: bytes) -> object:
    (folder / "stdout").write_bytes(content)
    (folder / "stderr").write_bytes(b"")
    return parse_step(require_runner("command"), folder, settings)


def _spec(folder: Path, content: bytes) -> object:
    (folder / "a.yaml").write_bytes(content)
    problems = Problems()
    found = read_spec(str(folder / "a.yaml"), None, problems)
    assert found is not None or problems.errors, "neither a spec nor a reason"
    assert all(problem.where.line > 0 and problem.message for problem in problems.items)
    return found


def _expression(content: bytes) -> object:
    """The same value each time, or the same reason."""
    text = content.decode(errors="replace")
    first, second = (_valued(text) for _ in range(2))
    assert repr(first) == repr(second), "another value each time"
    return first


def _valued(text: str) -> object:
    try:
        return evaluate(text, NAMES)
    except ExpressionError as error:
        return str(error)
