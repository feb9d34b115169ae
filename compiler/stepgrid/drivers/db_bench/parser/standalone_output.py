"""A log that people already have: any number of runs of db_bench, one after the other, with or without their stderr."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from stepgrid.drivers.db_bench.command import REPORT
from stepgrid.drivers.db_bench.parser import header, histogram, intervals, log, perf_context, report, result
from stepgrid.drivers.db_bench.parser.dump import file_reads, levels, state
from stepgrid.model.figures import Figures, ParseError, PrintedStep
from stepgrid.plugins import raw_output

LOOKED_FOR = (
    "it has no result line (`NAME : … micros/op … ops/sec`), no compaction table (`** Compaction Stats`), no "
    "`** DB Stats **` and no STATISTICS"
)
STDOUT = "stdout"  # of a step of ours
REPORT_FILE = "report file"  # what it holds is of a step that it does not name
WITHOUT_RESULT = "no result"  # what a run is called that counted no operations, or was cut off

# what a run says first, as far as it stands together; only the line of its keys is certain
_RUN = re.compile(
    r"(?:^(?:Set seed|RocksDB:|Speedb:|Date:|CPU:|CPUCache:|Initializing |Integrated BlobDB|DB path:).*\n)*"
    r"^Keys: +\d+ bytes each",
    re.MULTILINE,
)
_STATE = re.compile(r"^(?:\*\* Compaction Stats \[|\*\* DB Stats \*\*|STATISTICS:)", re.MULTILINE)
_SUMMARY = re.compile(r"^ops_sec\tmb_sec\t", re.MULTILINE)
_SERIES = (".r.csv", ".report.csv")


class Part(NamedTuple):
    """Of a run: a result with what follows it, up to the next."""

    result: result.Result | None
    before: str  # what its clients said while it ran
    text: str


def printed(path: Path) -> list[PrintedStep]:
    if report.is_one(path):
        return [PrintedStep(REPORT_FILE, Figures({}, qps=report.read(path)))]
    found = read(path)
    if not _STATE.search(found.text) and next(result.every(found.text), None) is None:
        raise ParseError(f"{path} is no output of db_bench: {_why(found.text, path)}")
    runs = _runs(_beside(path) + found.text)
    steps = [step for run in runs for step in _steps(run, path.parent)]
    return [*steps[:-1], _with_warnings(_with_series(steps[-1], path), found.warnings)]


def _why(text: str, path: Path) -> str:
    if _SUMMARY.search(text):
        return f"it is a summary of published scripts (`stepgrid import db_bench {path.parent}` takes such)"
    return LOOKED_FOR


def _beside(path: Path) -> str:
    """Of a step's own folder both outputs."""
    stderr = path.with_name("stderr") if path.name == STDOUT else None
    return stderr.read_text(encoding="utf-8", errors="replace") if stderr and stderr.is_file() else ""


def _with_warnings(step: PrintedStep, warnings: tuple[str, ...]) -> PrintedStep:
    return replace(step, figures=replace(step.figures, warnings=(*step.figures.warnings, *warnings)))


def _runs(text: str) -> Iterator[str]:
    """What stands before the first is its own: published scripts print their command there."""
    starts = [match.start() for match in _RUN.finditer(text)][1:]
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        yield text[start:end]


def _steps(run: str, folder: Path) -> Iterator[PrintedStep]:
    facts, threads = header.facts(run, ""), header.clients(run)
    parts = list(_parts(run))
    for part in parts:
        line = part.result and result.of_clients(part.result, header.release(facts), threads)
        also = [other.result.name for other in parts if other.result and other is not part]
        about = {**facts, **log.facts(folder)}
        yield _step(part, line, {**about, "also_ran": ", ".join(also)} if also else about, header.warnings(run))


def _parts(run: str) -> Iterator[Part]:
    lines = list(result.every(run))
    if not lines:
        yield Part(None, run, run)
    ends = [*(line.start for line in lines[1:]), len(run)]
    begins = [0, *(line.start for line in lines[:-1])]
    for line, begin, end in zip(lines, begins, ends, strict=False):
        yield Part(line, run[begin : line.start], intervals.without_dumps(run[line.start : end]))


def _step(part: Part, line: result.Result | None, facts: dict[str, str], warnings: Sequence[str]) -> PrintedStep:
    latencies = histogram.after(part.text, line.end - line.start) if line else []
    metrics = {**state.figures(part.text), **(result.figures(line, latencies) if line else {})}
    metrics |= intervals.writer(line.name, part.before, metrics, "also_ran" not in facts) if line else {}
    figures = Figures(
        metrics=metrics | histogram.figures(latencies),
        facts=facts,
        warnings=warnings,
        counters={**state.counters(part.text), **perf_context.counters(part.text)},
        levels=levels.levels(part.text),
        histograms=histogram.buckets(latencies),
        latencies=histogram.latencies(latencies),
        file_reads=file_reads.file_reads(part.text),
        rates=list(intervals.read(part.before)),
    )
    return PrintedStep(line.name if line else WITHOUT_RESULT, figures)


def _with_series(step: PrintedStep, path: Path) -> PrintedStep:
    """Every benchmark writes the file anew: it is the last one's."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    names = [f"{name}{end}" for name in (plain.name, plain.stem) for end in _SERIES]
    names += [REPORT] if path.name == STDOUT else []
    there = next((each for name in names if (each := path.with_name(name)).is_file()), None)
    if there is None or step.name == WITHOUT_RESULT:
        return step
    return replace(step, figures=replace(step.figures, qps=report.read(there)))


# A file that people already have: packed or not, with the line ends of another system, cut off anywhere.

CUT = "the file ends in the middle of a line, which is left out"


class WholeLines(NamedTuple):
    """Whole lines: half of one can end in half a number."""

    text: str
    warnings: tuple[str, ...] = ()


def read(path: Path) -> WholeLines:
    """What is not text is none."""
    text = _content(path).decode("utf-8", errors="replace").replace("\r\n", "\n")
    whole = text.rfind("\n") + 1
    return WholeLines(text[:whole], (CUT,) if text[whole:].strip() else ())


def _content(path: Path) -> bytes:
    try:
        return raw_output.read(path)
    except FileNotFoundError:
        raise ParseError(f"there is no file {path}") from None
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
