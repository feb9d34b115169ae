"""What SQLite's command prints with `.timer on`: a line for each statement."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures, ParseError

SHOWN = 60  # characters of a statement in a fact
_TIME = re.compile(r"^Run Time: real (\d+\.\d+) user (\d+\.\d+) sys (\d+\.\d+)$", re.MULTILINE)
_WRONG = re.compile(r"^(?:Parse|Runtime) error.*$|^Error: .*$", re.MULTILINE)


def parse(stdout: Path, settings: Mapping[str, Any]) -> Figures:
    statements: Sequence[str] = settings["sql"]
    times = [tuple(map(float, each)) for each in _TIME.findall(stdout.read_text(encoding="utf-8", errors="replace"))]
    if len(times) != len(statements):
        raise ParseError(f"stdout has {len(times)} lines `Run Time: …`, one is expected for each of {len(statements)}")
    real = [seconds for seconds, _, _ in times]
    metrics = {
        "seconds": sum(real),
        "sqlite_slowest_seconds": max(real),
        "sqlite_cpu_seconds": sum(user + system for _, user, system in times),
    }
    if (operations := settings.get("operations")) is not None:
        metrics |= {"operations": float(operations)}
        metrics |= {"qps": operations / sum(real)} if sum(real) else {}  # the clock has milliseconds
    return Figures(
        metrics, {f"statement {n}": f"{each:.3f} s: {statements[n - 1][:SHOWN]}" for n, each in enumerate(real, 1)}
    )


def complaint(stderr: Path) -> str | None:
    match = _WRONG.search(stderr.read_text(encoding="utf-8", errors="replace"))
    return f"sqlite3 says: {match[0]}" if match else None
