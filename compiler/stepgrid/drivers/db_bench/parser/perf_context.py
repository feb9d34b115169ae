"""The counters that --perf_level adds to a result: of one client, where there are several."""

from __future__ import annotations

import re

PREFIX = "perf_context."

_BEGINS = "PERF_CONTEXT:\n"
_BEGIN = re.compile(rf"{_BEGINS}(.*)$", re.MULTILINE)
_COUNTER = re.compile(r"(?:^|, )(\w+) = (\d+)(?=,|$)")
_LEVELS = re.compile(r"(\w+) = ((?:\d+@level\d+(?:, )?)+)")
_LEVEL = re.compile(r"(\d+)@level(\d+)")


def counters(block: str) -> dict[str, float]:
    """Of the block that begins with a result line; those of a level under NAME@levelN."""
    match = _BEGIN.search(block) if _BEGINS in block else None
    if match is None:
        return {}
    found = {f"{PREFIX}{name}": float(value) for name, value in _COUNTER.findall(match[1])}
    for name, values in _LEVELS.findall(match[1]):
        found |= {f"{PREFIX}{name}@level{level}": float(value) for value, level in _LEVEL.findall(values)}
    return found
