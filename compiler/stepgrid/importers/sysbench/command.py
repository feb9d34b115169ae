"""The command that a run's output begins with, without what is nobody's business."""

from __future__ import annotations

import re

_SECRET = re.compile(r"(--[a-z-]*password=).*")


def argv(line: str) -> tuple[str, ...]:
    return tuple(_SECRET.sub(r"\1…", word) for word in line.split())
