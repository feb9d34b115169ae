"""Forms of a report for CI: JUnit, GitHub annotations and summary, Bencher, github-action-benchmark, Otava."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from stepgrid.language.problems import workflow_command
from stepgrid.model.metrics import QPS
from stepgrid.model.status import Status
from stepgrid.model.table import group
from stepgrid.model.units import mean
from stepgrid.summarize import findings, formats
from stepgrid.summarize.claims import FAILS, HOLDS, ClaimCase, JudgedClaim, case_words, first_cases, scope
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import ComparedMetric
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.gate import GateCase, gate_cases
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_formats import ALONE, FormOptions, NoForm
from stepgrid.summarize.statistics.verdicts import SLOWER, UNDECIDED
from stepgrid_page.markdown_post import markdown

# JUnit XML: claims as test cases at each of their points, comparisons, and the measured steps that have no figures

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0, escaped or not
_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}  # of a suite -> the cases' elements
_ERRORS = (Status.FAILED, Status.INTERRUPTED, Status.BLOCKED)


def junit(report: Report, options: FormOptions = ALONE) -> str:
    """Write claims, comparisons and steps without figures; a comparison fails where the gate refuses it."""
    root = Element("testsuites", name=report.setup.title)
    claims = [_claim_case(report, claim, case) for claim in report.comparisons.claims for case in claim.cases]
    _add_suite(root, report, "claims", claims)
    comparisons = [_comparison_case(report, case) for case in gate_cases(report, options.gate)]
    _add_suite(root, report, "comparisons", comparisons)
    _add_suite(root, report, "measured steps", list(_step_cases(report)))
    indent(root, " ")
    xml = tostring(root, encoding="unicode")
    return _NOT_IN_XML.sub("\ufffd", f'<?xml version="1.0" encoding="UTF-8"?>\n{xml}\n')


def _add_suite(root: Element, report: Report, name: str, cases: Sequence[Element]) -> None:
    counts = {count: str(sum(case.find(tag) is not None for case in cases)) for count, tag in _COUNTS.items()}
    attributes = {"name": name, "tests": str(len(cases)), **counts}
    if report.setup.measured:
        attributes["timestamp"] = report.setup.measured[0].isoformat(timespec="seconds").split("+")[0]
    SubElement(root, "testsuite", attributes).extend(cases)


def _claim_case(report: Report, claim: JudgedClaim, case: ClaimCase) -> Element:
    name = f"{claim.claim} [{case.where}]" if case.where else claim.claim
    element = Element("testcase", classname=report.setup.spec, name=name)
    message = f"{claim.expect}: {case_words(case)}"
    if case.result == FAILS:
        SubElement(element, "failure", message=message, type="claim")
    elif case.result == UNDECIDED:
        SubElement(element, "skipped", message=f"undecided: {message}")
    else:
        SubElement(element, "system-out").text = message
    return element


def _comparison_case(report: Report, case: GateCase) -> Element:
    element = Element("testcase", classname=report.setup.spec, name=case.name)
    if case.is_refused:
        SubElement(element, "failure", message=case.text, type="comparison")
    elif UNDECIDED in case.results:
        SubElement(element, "skipped", message=case.text)
    else:
        SubElement(element, "system-out").text = case.text
    return element


def _step_cases(report: Report) -> Iterator[Element]:
    for trouble in report.notes.coverage.troubles:
        message = f"{trouble.status}: {trouble.reason}"
        for cell in trouble.cells:
            element = Element("testcase", classname=report.setup.spec, name=cell)
            if trouble.status in _ERRORS:
                SubElement(element, "error", message=message, type=trouble.status)
            else:
                SubElement(element, "skipped", message=message)
            yield element


# GitHub Actions: workflow commands that annotate a run, and the job's summary in Markdown

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"  # the file that a step appends its summary to
MOST_SUMMARY = 900_000  # bytes; GitHub takes a MiB
MOST_ANNOTATIONS = 10  # of each level that GitHub shows of a step
_LEVELS = {FAILS: "error", UNDECIDED: "warning", HOLDS: "notice"}


def github(report: Report, _: FormOptions = ALONE) -> str:
    """Annotate each claim, each failure and each answer; the summary of the step, where this runs in one, has more."""
    if path := os.environ.get(SUMMARY_VARIABLE):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(job_summary(report))
    lines: dict[str, list[str]] = {}
    for claim in report.comparisons.claims:
        level, title = _LEVELS[claim.result], f"{claim.result}: {claim.claim}"
        cases = "\n".join(map(case_words, first_cases(claim)))
        message = f"{claim.expect}{scope(claim)}\n{cases}"
        command = workflow_command(level, {"file": report.setup.spec, "title": title}, message)
        lines.setdefault(level, []).append(command)
    lines.setdefault("error", []).extend(_failures(report))
    # answers by a metric other than the leading one begin with its name
    for metric, metric_findings in findings.findings_by_metric(report).items():
        prefix = "" if metric == report.setup.metric else f"{metric.title}: "
        for finding in metric_findings:
            level = "warning" if finding.kind in (SLOWER, findings.BOTH) else "notice"
            command = workflow_command(level, {"title": report.setup.title}, f"{prefix}{finding.text}")
            lines.setdefault(level, []).append(command)
    return "".join(f"{line}\n" for level_lines in lines.values() for line in level_lines[:MOST_ANNOTATIONS])


def _failures(report: Report) -> Iterator[str]:
    """Annotate broken builds, and steps that failed and have no result; alike ones are one."""
    measured = {run.place[0] for run in report.data.runs if run.attempt}
    names = {build.id: f"build {build.name}" for build in report.setup.builds.values()}
    newest = {failure.node: failure for failure in report.data.failures if failure.node not in measured}
    labels = {run.place[0]: f"{run.step} of {run.build}" for run in reversed(report.data.runs)}
    groups = group(
        ((names.get(node) or labels.get(node, node), failure.sentence), failure) for node, failure in newest.items()
    )
    for (name, sentence), failures in groups.items():
        loads = f" ({len(failures)} stages)" if len(failures) > 1 else ""
        properties = {"file": report.setup.spec, "title": f"failed: {name}{loads}"}
        yield workflow_command("error", properties, f"{sentence}\nlog: {failures[0].log}")


def job_summary(report: Report) -> str:
    summary = markdown(report, has_chart=False).encode()
    if len(summary) <= MOST_SUMMARY:
        return summary.decode()
    return f"{summary[: MOST_SUMMARY - 10].decode(errors='ignore')}\n\n…\n"


# Figures over many reports: Bencher, github-action-benchmark, Otava


class _Series(NamedTuple):
    """Figures of a point by one metric, under a name that is the same in all reports of a spec."""

    name: str
    metric: ComparedMetric
    point: Point


THROUGHPUT = "throughput"  # Bencher's own measure: operations per second
_COSTS = ("p50_us", "p99_us", "p99_9_us", "cpu_us_per_op", "write_amplification")  # beside the compared metrics


def bencher(report: Report, _: FormOptions = ALONE) -> str:
    """Write Bencher Metric Format (bencher.dev, adapter `json`): means between the lowest and the highest load."""
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for name, metric, point in _series(report, _tracked_metrics(report)):
        spread = point.spread(metric.name)
        measure = re.sub("[^a-z0-9]+", "-", metric.name.lower()).strip("-")[:64]
        if spread:
            values = dict(zip(("value", "lower_value", "upper_value"), spread, strict=True))
            benchmarks.setdefault(name, {})[THROUGHPUT if metric.name == QPS else measure] = values
    return formats.json_text(benchmarks) + "\n"


def benchmark_bigger(report: Report, _: FormOptions = ALONE) -> str:
    """Write a list for `tool: customBiggerIsBetter`: the compared metrics that are better when higher."""
    return _benchmark_list(report, [metric for metric in report.setup.metrics if metric.better == "higher"], "higher")


def benchmark_smaller(report: Report, _: FormOptions = ALONE) -> str:
    """Write a list for `tool: customSmallerIsBetter`: compared metrics and costs that are better when lower."""
    metrics = [metric for metric in _tracked_metrics(report) if metric.better == "lower"]
    return _benchmark_list(report, metrics, "lower")


def _benchmark_list(report: Report, metrics: Sequence[ComparedMetric], better: str) -> str:
    entries = []
    for name, metric, point in _series(report, metrics):
        if spread := point.spread(metric.name):
            mean, lowest, highest = spread
            loads = point.loads[0]
            # read as a number, so without thousands and without an exponent
            reach = format(Decimal(f"{max(highest - mean, mean - lowest):.4g}"), "f")
            entry = {"name": _column(name, metric), "unit": metric.unit or metric.name, "value": mean}
            entry["extra"] = f"plan {report.setup.plan}\nloads {loads}"
            entries.append(entry | ({"range": f"± {reach}"} if loads > 1 else {}))
    if not entries:
        raise NoForm(f"no figures of a metric that is better when {better}; the program takes no empty list")
    return formats.json_text(entries) + "\n"


def otava(report: Report, _: FormOptions = ALONE) -> str:
    """Write CSV for Apache Otava (`type: csv`): a row for each load, a column for each series."""
    columns = {
        _column(name, metric): values
        for name, metric, point in _series(report, report.setup.metrics)
        if (values := point.values(metric.name))
    }
    rows: list[list[object]] = [["time", "plan", "load", *columns]]
    for load, start in sorted(_load_starts(report).items()):
        # Otava reads each cell as a number
        figures = (f"{mean(runs):.10g}" if (runs := values.get(load)) else "nan" for values in columns.values())
        time = start.replace(tzinfo=UTC).isoformat(sep=" ", timespec="seconds")
        rows.append([time, report.setup.plan, load, *figures])
    return formats.delimited_text(rows)


def _load_starts(report: Report) -> Mapping[int, datetime]:
    """Return when the first measured step of each load began."""
    starts: dict[int, datetime] = {}
    for section in report.comparisons.sections:
        for run in section.runs:
            if run.started:
                starts[run.load] = min(starts.get(run.load, run.started), run.started)
    return starts


def _tracked_metrics(report: Report) -> list[ComparedMetric]:
    """List the compared metrics, and the costs that are measured without being asked for."""
    units, better = report.data.units, report.data.better
    costs = [ComparedMetric(name, units.get(name, ""), better.get(name)) for name in _COSTS]
    return [*{metric.name: metric for metric in (*costs, *report.setup.metrics)}.values()]


def _series(report: Report, metrics: Sequence[ComparedMetric]) -> Iterator[_Series]:
    """List `readww/rocksdb-9.10.0/cache=lru` of each point that has figures; points that share their runs are one."""
    for section in report.comparisons.sections:
        points: dict[object, Point] = {}
        for point in section.points:
            if point.status == Status.DONE:
                points.setdefault(point.places, point)
        for point in points.values():
            labels = (comparison_axes.words((point.labels.get(axis),), (axis,)) for axis in section.names)
            name = "/".join(filter(None, (section.step, *labels)))
            yield from (_Series(name, metric, point) for metric in metrics)


def _column(name: str, metric: ComparedMetric) -> str:
    """Name a series where all metrics stand in one list: QPS by its point alone."""
    return name if metric.name == QPS else f"{name}/{metric.name}"
