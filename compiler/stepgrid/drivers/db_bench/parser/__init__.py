"""What a step's files say, by name and never by position. What is not there is not reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.drivers.db_bench.benchmarks import counted_beside, first_measured, has_background_writer, opens_report
from stepgrid.drivers.db_bench.command import REPORT
from stepgrid.drivers.db_bench.parser import (
    content,
    header,
    histogram,
    intervals,
    log,
    perf_context,
    phases,
    report,
    result,
)
from stepgrid.drivers.db_bench.parser.dump import levels, state
from stepgrid.model.figures import Figures, ParseError


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    stdout, stderr = _read(folder, "stdout"), _read(folder, "stderr")
    found = Figures(
        metrics=state.figures(stdout),
        facts={**header.facts(stdout, stderr), **log.facts(folder)},
        warnings=header.warnings(stdout, stderr),
        counters=state.counters(stdout),
        levels=levels.levels(stdout),
    )
    measured = first_measured(settings["benchmarks"])
    return _with_result(found, Step(folder, settings, measured, stdout, stderr)) if measured else found


class Step(NamedTuple):
    folder: Path
    settings: Mapping[str, Any]
    measured: str
    stdout: str
    stderr: str

    @property
    def benchmarks(self) -> Sequence[str]:
        names: Sequence[str] = self.settings["benchmarks"]
        return names


def _with_result(found: Figures, step: Step) -> Figures:
    line = _line(step, header.release(found.facts))
    latencies = histogram.after(step.stdout, line.end)
    metrics = {**found.metrics, **result.figures(line, latencies), **histogram.figures(latencies)}
    alone = not counted_beside(step.benchmarks, step.measured)
    metrics |= phases.drain(step.benchmarks, step.measured, metrics)
    metrics |= phases.stalled(metrics)
    metrics |= phases.left(step.benchmarks, step.measured, step.stdout[line.end :])
    metrics |= intervals.writer(step.measured, step.stderr if alone else "", metrics, alone)
    return replace(
        found,
        metrics=metrics,
        facts={**found.facts, **_beside(step, found.facts)},
        qps=_series(step),
        counters={**found.counters, **perf_context.counters(step.stdout[line.start :])},
        histograms=histogram.buckets(latencies),
        window=phases.window(step.folder, step.benchmarks, step.measured, metrics),
    )


def _read(folder: Path, name: str) -> str:
    """The whole lines: half a line, of an output that was cut off, can end in half a number."""
    try:
        text = content.text(f"{folder}/{name}")
        return text[: text.rfind("\n") + 1]
    except FileNotFoundError:
        raise ParseError(f"{folder / name}: there is no such file, where db_bench's output was expected") from None


def _line(step: Step, release: result.Release) -> result.Result:
    try:
        found = result.find(step.stdout, step.measured)
    except ParseError as problem:
        raise ParseError(f"{step.folder / 'stdout'}: {problem}") from None
    return result.of_clients(found, release, step.settings.get("threads"))


def _beside(step: Step, facts: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    if also := counted_beside(step.benchmarks, step.measured):
        found["also_ran"] = ", ".join(also)
    if has_background_writer(step.measured):
        found["qps_over_time"] = header.writer_note(facts, step.settings.get("write_rate"))
    return found


def _series(step: Step) -> list[tuple[float, float]]:
    """Empty when another benchmark of the step wrote over the file afterwards."""
    writers = [name for name in step.benchmarks if opens_report(name)]
    return report.read(step.folder / REPORT) if writers[-1:] == [step.measured] else []
