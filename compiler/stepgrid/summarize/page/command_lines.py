"""The exact commands, as somebody would type them beside outputs/: where it lay while they ran is of no use."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.report import Report

NONE = "[]"
MANY = 24  # commands of a step that are shown whole
# what comes before our folders
_BEFORE = re.compile(r"(?<![^:;=,])/[^:;=,]*?(?=(?:builds/b|(?:attempts|live)/s)-[0-9a-f]{20})")


def commands(report: Report, section: Section) -> Iterator[tuple[str, str]]:
    """(arm, command) of the first run of each arm that has one."""
    known, names = report.data.facts.get("command", {}), section.names
    for point in section.points:
        for run in point.runs:
            found = known.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}")
            if found and "argv" in found:
                arm = comparison_axes.words(comparison_axes.key(point, names), names)
                yield arm or section.step, command(found)
                break


def shortened(found: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Of many commands the first as it is, and of the others the words in which they differ from it."""
    if len(found) <= MANY:
        return found
    (arm, whole), *others = found
    words = whole.split(" ")
    return [(arm, whole), *((name, _differing(words, text.split(" ")) or text) for name, text in others)]


def _differing(words: Sequence[str], others: Sequence[str]) -> str:
    """… --cache_size=8388608 … --bloom_bits=10 …; nothing where they do not stand at the same places."""
    if len(words) != len(others):
        return ""
    found = [other for word, other in zip(words, others, strict=True) if word != other]
    return f"… {' … '.join(found)} …" if found else "…"


def command(found: Mapping[str, str]) -> str:
    from pydantic_core import from_json  # as json.loads, in half its time

    argv, env = from_json(found["argv"]), from_json(found.get("env", "{}")) or {}
    if _is_ours(argv):
        argv, env = ["python", *argv[1:]], {name: value for name, value in env.items() if name != "PYTHONPATH"}
    return " ".join([*(f"{name}={_quoted(value)}" for name, value in env.items()), *map(_quoted, argv)])


def _is_ours(argv: Sequence[str]) -> bool:
    return argv[1:2] == ["-m"] and "".join(argv[2:3]).startswith("stepgrid.")


@lru_cache(1 << 16)  # commands of a report are much alike
def _quoted(word: str) -> str:
    return shlex.quote(_BEFORE.sub("outputs/", word))


def dropped(report: Report) -> list[str]:
    """Options that a binary lacks and the spec let go: `cache_low_pri_pool_ratio (rocksdb-6.11.4)`."""
    known = report.data.facts.get("command", {})
    found: dict[str, dict[str, None]] = {}
    for section in report.comparisons.sections:
        for run in (run for point in section.points for run in point.runs):
            facts = known.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}", {})
            for name in json.loads(said) if (said := facts.get("dropped", NONE)) != NONE else ():
                found.setdefault(name if isinstance(name, str) else json.dumps(name), {})[run.build] = None
    return [f"{name} ({', '.join(builds)})" for name, builds in found.items()]
