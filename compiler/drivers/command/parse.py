"""The metrics of a command: what its patterns find in what it printed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compiler.drivers.protocol import Figures, ParseError

OUTPUTS = ("stdout", "stderr")


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    texts = [(folder / name).read_text(encoding="utf-8", errors="replace") for name in OUTPUTS]
    found: dict[str, float] = {}
    for name, metric in settings["metrics"].items():
        text = _last(metric["pattern"], texts)
        if text is not None:
            found[name] = _number(name, text)
        elif metric["required"]:
            raise ParseError(f"metric `{name}`: nothing in stdout or stderr matches {metric['pattern']}")
    return Figures(found)


def _last(pattern: str, texts: list[str]) -> str | None:
    """What the group held in the last match: of running totals, the final one. stdout goes before stderr."""
    for text in texts:
        matches = [match[1] for match in re.finditer(pattern, text, re.MULTILINE) if match[1] is not None]
        if matches:
            return matches[-1]
    return None


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ParseError(f"metric `{name}`: its pattern found `{text}`, which is no number")
    return number
