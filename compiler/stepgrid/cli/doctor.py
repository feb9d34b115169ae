"""stepgrid doctor [SPEC]: warnings about this host with the commands that fix them, and how much is fine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from stepgrid.cli.failures import unless_busy
from stepgrid.cli.output import WIDTH
from stepgrid.cli.spec_arguments import add_narrowing, quiet_plan, spec_error, use_site
from stepgrid.errors import FAILED, FINE
from stepgrid.host.locks import host_lock_path, locked
from stepgrid.host.terminal_output import Paint, text_width, wrap
from stepgrid.host.tuning import count_files, restore
from stepgrid.language.site import current_site
from stepgrid.model.records import OK, STOPS, UNKNOWN, WARNING, HostFinding
from stepgrid.model.units import counted
from stepgrid.summarize import formats
from stepgrid.workflow import host_plan
from stepgrid.workflow.doctor import sections

NAME_WIDTH = 14
_STYLES = {STOPS: "red", WARNING: "yellow"}


def add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="also check what this spec needs: hardware, programs")
    add_narrowing(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument("--all", action="store_true", help="list everything, also what is fine")
    parser.add_argument(
        "--restore", action="store_true", help="restore host settings that a killed `noise: fix` run changed"
    )


def run_doctor(args: argparse.Namespace) -> int:
    if args.restore:
        return _restore_settings()
    if errors := [problem for problem in use_site(args) if problem.severity == "error"]:
        raise spec_error(errors[0].where.file, errors)
    plan = quiet_plan(args) if args.spec else None
    checked = list(sections(host_plan.store(), current_site(), plan))
    findings = [finding for section in checked for finding in section.findings]
    if args.format == "json":
        objects = [
            {"title": section.title, "findings": [finding.to_json() for finding in section.findings]}
            for section in checked
        ]
        print(formats.json_text({"sections": objects, "verdict": verdict(findings)}))
    else:
        paint, width = Paint.for_stream(sys.stdout), text_width(sys.stdout, WIDTH)
        print("\n".join(finding_lines(findings, args.all, width, paint)))
    return FAILED if any(finding.severity == STOPS for finding in findings) else FINE


def _restore_settings() -> int:
    sentence = "a run is measuring (process {}); it restores its settings when it ends"
    with unless_busy(sentence), locked(host_lock_path(), shared=True, wait=False):
        restored, failures = restore(host_lock_path())
    print(f"restored: {count_files(restored)}" if restored else "nothing to restore")
    for sentence in failures:
        print(f"not restored: {sentence}")
    return FAILED if failures else FINE


def finding_lines(findings: Sequence[HostFinding], with_fine: bool, width: int, paint: Paint) -> Iterator[str]:
    """Show the verdict, then problems with what fixes them, then what is unknown; what is fine is counted or listed."""
    fine = sum(finding.severity == OK for finding in findings)
    yield f"{verdict(findings)}, {fine} fine{'' if with_fine else ' (--all lists them)'}"
    problems = sorted(
        (finding for finding in findings if finding.severity in _STYLES),
        key=lambda finding: finding.severity == WARNING,
    )
    if problems:
        yield ""
    for finding in problems:
        yield from _problem_lines(finding, width, paint)
    unknown: dict[str, list[str]] = {}
    for finding in findings:
        if finding.severity == UNKNOWN:
            unknown.setdefault(finding.text, []).append(finding.name)
    if unknown:
        yield ""
    for text, names in unknown.items():
        yield from wrap(f"{', '.join(names)}: {text}", "unknown  ", " " * 9, width)
    if with_fine:
        yield ""
    for finding in findings if with_fine else ():
        if finding.severity == OK:
            first = f"fine     {finding.name:<{NAME_WIDTH}} "
            first_line, *following = wrap(finding.text, first, " " * len(first), width)
            yield from (paint(first_line[:4], "green") + first_line[4:], *following)


def _problem_lines(finding: HostFinding, width: int, paint: Paint) -> Iterator[str]:
    first = f"{finding.severity:<8} {finding.name:<{NAME_WIDTH}} "
    expectation = f"; expected: {finding.expected}" if finding.expected else ""
    first_line, *following = wrap(f"{finding.text}{expectation}", first, " " * len(first), width)
    word = len(finding.severity)
    yield paint(first_line[:word], _STYLES[finding.severity]) + first_line[word:]
    yield from following
    if finding.mend:
        yield from wrap(f"fix: {finding.mend}", " " * len(first), " " * (len(first) + 5), width)


def verdict(findings: Sequence[HostFinding]) -> str:
    stops, warnings, unknown = (
        sum(finding.severity == severity for finding in findings) for severity in (STOPS, WARNING, UNKNOWN)
    )
    start = f"{counted(stops, 'problem')} would stop a run" if stops else "nothing would stop a run"
    return f"{start}; {counted(warnings, 'warning')}, {unknown} unknown"
