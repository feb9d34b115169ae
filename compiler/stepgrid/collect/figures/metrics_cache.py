"""The metrics of a result, kept in its folder for those who look back at it: the history and what a plan expects.

By driver and parser: what an older parser has read is not what this one would read. What else a step says is in the
tables of the plans that collected it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.plugins.drivers import runnable

REVISION = 14  # of what is worked out beside the driver's own figures
Metrics = Mapping[int, Mapping[str, float]]  # by the step's place in its stage


def keep(result: Path, kind: str, steps: Metrics) -> None:
    from pydantic_core import to_json  # as json.dumps, in a third of its time

    body = {"revision": REVISION, "steps": {index: {"metrics": metrics} for index, metrics in steps.items()}}
    with suppress(OSError):  # a cache only: a read-only or full store is no reason to fail
        _path(result, kind).write_bytes(to_json(body))  # half of it is none


def kept(result: Path, kind: str) -> Metrics:
    """By this parser; nothing where it has not read the result."""
    from pydantic_core import from_json  # as json.loads, in half its time

    try:
        raw: Any = from_json(_path(result, kind).read_bytes())
        if raw["revision"] != REVISION:
            return {}
        return {int(index): step["metrics"] for index, step in raw["steps"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def parser(kind: str) -> int:
    """Imported results may be of a kind that this version does not run."""
    found = runnable(kind)
    return found.parser if found else 0


def _path(result: Path, kind: str) -> Path:
    return result / f"figures.{kind}.{parser(kind)}.json"
