"""What a step's files say, by name and never by position. What is not there is not reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compiler.drivers.db_bench.benchmarks import counted_beside, first_measured, has_background_writer, opens_report
from compiler.drivers.db_bench.command import REPORT
from compiler.drivers.db_bench.parse import (
    cache,
    compaction,
    header,
    histogram,
    levels,
    report,
    result,
    stalls,
    statistics,
    totals,
)
from compiler.drivers.protocol import Figures, ParseError


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    stdout, stderr = _read(folder / "stdout"), _read(folder / "stderr")
    benchmarks: Sequence[str] = settings["benchmarks"]
    measured = first_measured(benchmarks)
    metrics = _throughput(stdout, measured, folder / "stdout") if measured else {}
    return Figures(
        metrics=metrics | _state(stdout),
        facts=_facts(stdout, stderr, measured, settings),
        qps=_series(folder, benchmarks, measured),
        warnings=header.warnings(stdout, stderr),
        counters=statistics.counters(stdout),
        levels=levels.levels(stdout),
    )


def _read(path: Path) -> str:
    """The whole lines: half a line, of an output that was cut off, can end in half a number."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        return text[: text.rfind("\n") + 1]
    except FileNotFoundError:
        raise ParseError(f"{path}: there is no such file, where db_bench's output was expected") from None


def _throughput(stdout: str, benchmark: str, path: Path) -> dict[str, float]:
    try:
        found = result.find(stdout, benchmark)
    except ParseError as problem:
        raise ParseError(f"{path}: {problem}") from None
    latencies = histogram.after(stdout, found.end)
    return result.figures(found, latencies) | histogram.figures(latencies)


def _state(stdout: str) -> dict[str, float]:
    parts = (compaction.figures, totals.figures, stalls.figures, cache.figures)
    return {name: value for part in parts for name, value in part(stdout).items()}


def _facts(stdout: str, stderr: str, measured: str | None, settings: Mapping[str, Any]) -> dict[str, str]:
    facts = header.facts(stdout, stderr)
    if also := counted_beside(settings["benchmarks"], measured):
        facts["also_ran"] = ", ".join(also)
    if measured and has_background_writer(measured):
        facts["qps_over_time"] = header.writer_note(facts, settings.get("write_rate"))
    return facts


def _series(folder: Path, benchmarks: Sequence[str], measured: str | None) -> list[tuple[float, float]]:
    """Empty when another benchmark of the step wrote over the file afterwards."""
    writers = [name for name in benchmarks if opens_report(name)]
    return report.read(folder / REPORT) if measured and writers[-1:] == [measured] else []
