"""How the published scripts read a line: words by their position, and of a word the number that it begins with."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def field(line: str, position: int) -> str:
    """From 1; empty where the line has not as many."""
    words = line.split()
    return words[position - 1] if 0 < position <= len(words) else ""


def number(word: str) -> float:
    """`85.19,` is 85.19, and no number is 0."""
    found = _NUMBER.match(word.strip())
    return float(found[0]) if found else 0.0


def is_number(word: str) -> bool:
    """Whether it begins with one."""
    return _NUMBER.match(word.strip()) is not None


def fixed(line: str, position: int, decimals: int = 0) -> str:
    return f"{number(field(line, position)):.{decimals}f}"


def plain(value: float) -> str:
    """As print has it: six digits, and all of an integer."""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def ratio(value: float, base: float) -> str:
    """What was nothing and still is stands as 1."""
    if base == 0:
        return "1" if value == 0 else "inf"
    return f"{value / base:.2f}"
