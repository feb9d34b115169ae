"""Figures of a step's files, and of logs that people already have. Everything is read by name, never by position."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.host import files
from stepgrid.model.figures import Figures, ParseError, PrintedStep
from stepgrid.model.records import replace
from stepgrid.model.units import as_number
from stepgrid.plugins import driver
from stepgrid_databases.drivers.db_bench.benchmarks import (
    DRAINING,
    PRINTING,
    first_measured,
    has_background_writer,
    opens_report,
    other_counted,
)
from stepgrid_databases.drivers.db_bench.command import LOG, REPORT, is_report, read_report, read_text
from stepgrid_databases.drivers.db_bench.engine_statistics import (
    compaction_levels,
    engine_counters,
    engine_figures,
    file_reads,
    read_number,
)
from stepgrid_databases.drivers.db_bench.output import (
    ResultLine,
    client_rates,
    command_threads,
    correct_client_time,
    find_result,
    header_facts,
    histogram_buckets,
    histogram_figures,
    histogram_rows,
    histograms_after,
    perf_counters,
    printed_release,
    printed_warnings,
    remove_interval_dumps,
    result_figures,
    result_lines,
    writer_figures,
    writer_note,
)


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    stdout, stderr = _whole_lines(folder, "stdout"), _whole_lines(folder, "stderr")
    figures = Figures(
        metrics=engine_figures(stdout),
        facts={**header_facts(stdout, stderr), **log_facts(folder)},
        warnings=printed_warnings(stdout, stderr),
        counters=engine_counters(stdout),
        levels=compaction_levels(stdout),
    )
    benchmarks: Sequence[str] = settings["benchmarks"]
    measured = first_measured(benchmarks)
    if measured is None:
        return figures
    try:
        line = find_result(stdout, measured)
    except ParseError as problem:
        raise ParseError(f"{folder / 'stdout'}: {problem}") from None
    line = correct_client_time(line, printed_release(figures.facts), settings.get("threads"))
    histograms = histograms_after(stdout, line.end)
    also_ran = other_counted(benchmarks, measured)
    metrics = {**figures.metrics, **result_figures(line, histograms), **histogram_figures(histograms)}
    metrics |= drain_figures(benchmarks, measured, metrics)
    if measured == "mixgraph" and not also_ran:
        metrics = mix_sizes(stdout, figures.counters) | metrics
    metrics |= measured_stall_share(metrics)
    metrics |= debt_figures(benchmarks, measured, stdout[line.end :])
    metrics |= writer_figures(measured, "" if also_ran else stderr, metrics, not also_ran)
    facts = dict(figures.facts)
    if also_ran:
        facts["also_ran"] = ", ".join(also_ran)
    if has_background_writer(measured):
        facts["qps_over_time"] = writer_note(facts, settings.get("write_rate"))
    buckets = histogram_buckets(histograms)
    if settings.get("write_rate") and not has_background_writer(measured):
        # db_bench sleeps after a write that came early, and does not ask when a late one was due
        late = any(histogram.operation == "write" for histogram in histograms)
        figures = replace(figures, warnings=[*figures.warnings, LATE_START]) if late else figures
    reporting = [name for name in benchmarks if opens_report(name)]
    return replace(
        figures,
        metrics=metrics,
        facts=facts,
        qps=read_report(folder / REPORT) if reporting[-1:] == [measured] else [],
        counters={**figures.counters, **perf_counters(stdout[line.start :])},
        histograms=buckets,
        window=measured_window(folder, benchmarks, measured, metrics),
        debts={"pending compaction bytes": pending_compaction(stderr)},
    )


LATE_START = (
    "percentiles are no latency at this write rate: db_bench counts from when it sent a write, also where an earlier "
    "one had held it up"
)


_PENDING = re.compile(
    r"^Uptime\(secs\): (\d+\.\d+) total.*\n(?:(?!Uptime).*\n){,20}?Estimated pending compaction bytes: (\d+)$",
    re.MULTILINE,
)


def pending_compaction(text: str) -> list[tuple[float, float]]:
    """Read the debt of each statistics dump, by seconds since it was opened; before 9.0 none has it."""
    return [(float(seconds), float(size)) for seconds, size in _PENDING.findall(text)]


def _whole_lines(folder: Path, name: str) -> str:
    """Drop half a line of an output that was cut off: it can end in half a number."""
    try:
        text = read_text(f"{folder}/{name}")
    except FileNotFoundError:
        raise ParseError(f"{folder / name}: there is no such file, where db_bench's output was expected") from None
    return text[: text.rfind("\n") + 1]


# When within a step its benchmark ran, and what came after: db_bench prints only how long the database was open.

UPTIME, SECONDS = "uptime_seconds", "seconds"

_LEVEL_SIZES = re.compile(r"^(Level +Files +Size\(MB\).*)\n-+\n((?: *\d+ .*\n)+)", re.MULTILINE)
_KEY_SIZE = re.compile(r"^Keys: +(\d+) bytes each", re.MULTILINE)
_PUT_HEADER = 15  # bytes of a write batch of one put: 12 of its own, a type, two lengths of less than 128
_DEBT = {"Files": ("drain_l0_files", 1), "Size(MB)": ("drain_l0_bytes", 2**20)}


def drain_figures(benchmarks: Sequence[str], measured: str, metrics: Mapping[str, float]) -> dict[str, float]:
    """Compute the seconds of flushes and compactions between the end of the benchmark and the statistics."""
    aftermath = _aftermath(benchmarks, measured) or ()
    drains = [index for index, name in enumerate(aftermath) if name in DRAINING]
    if not drains or "stats" not in aftermath[drains[-1] :] or not {UPTIME, SECONDS} <= metrics.keys():
        return {}
    return {"drain_seconds": max(0.0, metrics[UPTIME] - metrics[SECONDS])}


def mix_sizes(text: str, counters: Mapping[str, float]) -> dict[str, float]:
    """Compute the means that mixgraph prints from 7.1 on by the counters of the engine, if it keeps statistics."""
    sizes = {}
    key, puts = _KEY_SIZE.search(text), counters.get("rocksdb.number.keys.written")
    if key and puts and (written := counters.get("rocksdb.bytes.written")):
        sizes["put_value_bytes"] = written / puts - _PUT_HEADER - int(key[1])
    seeks, nexts = counters.get("rocksdb.number.db.seek"), counters.get("rocksdb.number.db.next")
    if seeks and nexts is not None:
        sizes["scan_keys"] = nexts / seeks
    return sizes


def measured_stall_share(metrics: Mapping[str, float]) -> dict[str, float]:
    """Relate stalls to the time of the benchmark: nobody writes while a step drains."""
    if not {"drain_seconds", "stall_seconds", "stall_pct", SECONDS} <= metrics.keys() or not metrics[SECONDS]:
        return {}
    share = 100 * metrics["stall_seconds"] / metrics[SECONDS]
    return {"stall_pct": share, "stall_pct_published": metrics["stall_pct"]}


def debt_figures(benchmarks: Sequence[str], measured: str, text: str) -> dict[str, float]:
    """Read level 0 when the step began to drain, if it ran `levelstats` before its first compaction.

    `text`: what was printed behind the result. A flush brings what is in memory to level 0 and compacts nothing.
    """
    aftermath = list(_aftermath(benchmarks, measured) or ())
    looked = aftermath.index("levelstats") if "levelstats" in aftermath else len(aftermath)
    if not (PRINTING | {"flush"}).issuperset(aftermath[:looked]) or DRAINING.isdisjoint(aftermath[looked:]):
        return {}
    table = _LEVEL_SIZES.search(text)
    rows = (dict(zip(table[1].split(), line.split(), strict=False)) for line in table[2].splitlines()) if table else ()
    level0 = next((row for row in rows if row["Level"] == "0"), {})
    values = {name: (read_number(level0.get(column, "")), unit) for column, (name, unit) in _DEBT.items()}
    return {name: value * unit for name, (value, unit) in values.items() if value is not None}


def measured_window(
    folder: Path, benchmarks: Sequence[str], measured: str, metrics: Mapping[str, float]
) -> tuple[float, float] | None:
    """Find when the benchmark ran, in seconds since the command's start.

    A step that prints its statistics last took the rest of its time to open the database. Without them the time of
    opening is unknown: if the step drains, it is less than the drain; else the whole step is measured.
    """
    aftermath = _aftermath(benchmarks, measured)
    if aftermath is None or SECONDS not in metrics:
        return None
    wall = as_number(files.read_json(f"{folder}/step.json").get("seconds"))
    if wall is not None and UPTIME in metrics and benchmarks[-1] == "stats":
        opening = max(0.0, wall - metrics[UPTIME])
        return opening, opening + metrics[SECONDS]
    return None if DRAINING.isdisjoint(aftermath) else (0.0, metrics[SECONDS])


def _aftermath(benchmarks: Sequence[str], measured: str) -> Sequence[str] | None:
    """List what follows the benchmark; None if it was not the first to do something, or not the only one."""
    first = benchmarks.index(measured)
    before, after = benchmarks[:first], benchmarks[first + 1 :]
    return after if PRINTING.issuperset(before) and (PRINTING | DRAINING).issuperset(after) else None


# The engine's own log: which code it is, and the options that it really runs with.

LOG_HEAD = 2**18  # bytes: options stand at the beginning, and take some 30 KiB

_LOG_FACTS = {
    "engine_version": r"(?:RocksDB|Speedb) version: (\S+(?: \(.+\))?)$",
    "git_sha": r"Git sha (?:rocksdb_build_git_sha:)?@?([0-9a-f]{6,}\S*?)@?$",
    "compiled": r"Compile (?:date|time) (.+)$",
}
_FAMILY = re.compile(r"--- Options for column family \[(.+?)\]")
_OPTION = re.compile(r"\bOptions\.([\w.\[\]]+) *: ?(.*)$")
_TABLE_OPTION = re.compile(r"^  +(\w+) ?: ?(.*)$")
_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")
_TABLE_FACTORY = "table_factory options"


def log_facts(folder: Path) -> dict[str, str]:
    """Read the log, if the step kept it."""
    try:
        text = files.read_bytes(f"{folder}/{LOG}", LOG_HEAD).decode(errors="replace")
    except OSError:
        return {}
    matches = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in _LOG_FACTS.items()}
    facts = {name: fact for name, match in matches.items() if match and (fact := match[1].strip())}
    options: dict[str, str] = {}
    for name, value in _log_options(text):
        if value and not _ADDRESS.search(value):  # an address is another one in every run
            options.setdefault(name, value)
    if options:
        facts["options"] = json.dumps(options, sort_keys=True)
    return facts


def _log_options(text: str) -> Iterator[tuple[str, str]]:
    """Read the options of the database and its default column family, as the engine writes them when it opens."""
    family, in_tables = "default", False
    for line in text.splitlines():
        if begin := _FAMILY.search(line):
            family = begin[1]
        if family != "default":
            continue
        option, table_option = _OPTION.search(line), _TABLE_OPTION.match(line)
        if option:
            in_tables = False
            yield option[1], option[2].strip()
        elif _TABLE_FACTORY in line or (in_tables and table_option):
            in_tables = True
            inner = table_option or _TABLE_OPTION.match("  " + line.partition(_TABLE_FACTORY)[2].lstrip(" :"))
            if inner:
                yield inner[1], inner[2].strip()


# Logs that people already have: packed or not, with the line ends of another system, cut off anywhere; any number of
# runs one after the other, with or without their stderr.

EXPECTED = (
    "it has no result line (`NAME : … micros/op … ops/sec`), no compaction table (`** Compaction Stats`), no "
    "`** DB Stats **` and no STATISTICS"
)
CUT = "the file ends in the middle of a line, which is left out"
STDOUT = "stdout"  # of a step of ours
REPORT_FILE = "report file"  # its rates are of a step that it does not name
WITHOUT_RESULT = "no result"  # a run that counted no operations, or was cut off

# what a run prints first; only the line of its keys is certain
_RUN = re.compile(
    r"(?:^(?:Set seed|RocksDB:|Speedb:|Date:|CPU:|CPUCache:|Initializing |Integrated BlobDB|DB path:).*\n)*"
    r"^Keys: +\d+ bytes each",
    re.MULTILINE,
)
_STATE = re.compile(r"^(?:\*\* Compaction Stats \[|\*\* DB Stats \*\*|STATISTICS:)", re.MULTILINE)
_SUMMARY = re.compile(r"^ops_sec\tmb_sec\t", re.MULTILINE)
_REPORT_SUFFIXES = (".r.csv", ".report.csv")


class RunPart(NamedTuple):
    """A part of a run: a result with what follows it, up to the next."""

    result: ResultLine | None
    before: str  # what its clients printed while it ran
    text: str


def printed(path: Path) -> list[PrintedStep]:
    if is_report(path):
        return [PrintedStep(REPORT_FILE, Figures({}, qps=read_report(path)))]
    text, warnings = read_log(path)
    if not _STATE.search(text) and next(result_lines(text), None) is None:
        reason = EXPECTED
        if _SUMMARY.search(text):
            reason = f"it is a summary of published scripts (`stepgrid published db_bench {path.parent}` takes such)"
        raise ParseError(f"{path} is no output of db_bench: {reason}")
    stderr = path.with_name("stderr")
    if path.name == STDOUT and stderr.is_file():
        text = stderr.read_text(encoding="utf-8", errors="replace") + text
    starts = [0, *[match.start() for match in _RUN.finditer(text)][1:]]  # published scripts print the command above
    runs = (text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True))
    steps = [step for run in runs for step in _run_steps(run, path.parent)]
    figures = steps[-1].figures
    figures = replace(figures, warnings=(*figures.warnings, *warnings))
    report = _report_beside(path)
    if report is not None and steps[-1].name != WITHOUT_RESULT:
        figures = replace(figures, qps=read_report(report))
    return [*steps[:-1], replace(steps[-1], figures=figures)]


def read_log(path: Path) -> tuple[str, tuple[str, ...]]:
    """Read whole lines, as half of one can end in half a number, and a warning about the half that is left out."""
    try:
        text = driver.read_output(path).decode("utf-8", errors="replace").replace("\r\n", "\n")
    except FileNotFoundError:
        raise ParseError(f"there is no file {path}") from None
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
    end = text.rfind("\n") + 1
    return text[:end], (CUT,) if text[end:].strip() else ()


def _run_steps(run: str, folder: Path) -> Iterator[PrintedStep]:
    header, threads = header_facts(run, ""), command_threads(run)
    parts = list(_run_parts(run))
    for part in parts:
        line = part.result and correct_client_time(part.result, printed_release(header), threads)
        facts = {**header, **log_facts(folder)}
        if also_ran := [other.result.name for other in parts if other.result and other is not part]:
            facts["also_ran"] = ", ".join(also_ran)
        yield _printed_step(part, line, facts, printed_warnings(run))


def _run_parts(run: str) -> Iterator[RunPart]:
    lines = list(result_lines(run))
    if not lines:
        yield RunPart(None, run, run)
    ends = [*(line.start for line in lines[1:]), len(run)]
    begins = [0, *(line.start for line in lines[:-1])]
    for line, begin, end in zip(lines, begins, ends, strict=False):
        yield RunPart(line, run[begin : line.start], remove_interval_dumps(run[line.start : end]))


def _printed_step(
    part: RunPart, line: ResultLine | None, facts: dict[str, str], warnings: Sequence[str]
) -> PrintedStep:
    histograms = histograms_after(part.text, line.end - line.start) if line else []
    metrics = {**engine_figures(part.text), **(result_figures(line, histograms) if line else {})}
    metrics |= writer_figures(line.name, part.before, metrics, "also_ran" not in facts) if line else {}
    figures = Figures(
        metrics=metrics | histogram_figures(histograms),
        facts=facts,
        warnings=warnings,
        counters={**engine_counters(part.text), **perf_counters(part.text)},
        levels=compaction_levels(part.text),
        histograms=histogram_buckets(histograms),
        latencies=histogram_rows(histograms),
        file_reads=file_reads(part.text),
        rates=list(client_rates(part.before)),
    )
    return PrintedStep(line.name if line else WITHOUT_RESULT, figures)


def _report_beside(path: Path) -> Path | None:
    """Find the report file of a log; every benchmark writes it anew, so that its rates are of the last one."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    names = [f"{name}{suffix}" for name in (plain.name, plain.stem) for suffix in _REPORT_SUFFIXES]
    names += [REPORT] if path.name == STDOUT else []
    return next((file for name in names if (file := path.with_name(name)).is_file()), None)
