"""The figures of statements: how long each took, as their client saw it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures, ParseError

SHOWN = 60  # characters of a statement in a fact


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    done = _done(folder / "stdout")
    missing = [number for number in range(1, len(settings["sql"]) + 1) if number not in done]
    if missing:
        raise ParseError(f"stdout has no line for statement {missing[0]}")
    seconds = {number: float(line["seconds"]) for number, line in done.items()}
    metrics = {
        "sql_seconds": sum(seconds.values()),
        "sql_slowest_seconds": max(seconds.values()),
        "sql_statements": float(len(done)),
        "sql_rows": float(sum(int(line["rows"]) for line in done.values())),
    }
    facts = {f"statement {number}": f"{seconds[number]:.6g} s: {_shown(line['sql'])}" for number, line in done.items()}
    return Figures(metrics, facts)


def _done(stdout: Path) -> dict[int, Mapping[str, Any]]:
    found: dict[int, Mapping[str, Any]] = {}
    for line in stdout.read_text(encoding="utf-8").splitlines():
        try:
            said = json.loads(line)
            found[int(said["statement"])] = {name: said[name] for name in ("seconds", "rows", "sql")}
        except (ValueError, KeyError, TypeError):
            raise ParseError(f"stdout has a line that is no statement's: {line[:SHOWN]}") from None
    return found


def _shown(sql: str) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
