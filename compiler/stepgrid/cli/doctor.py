"""stepgrid doctor [SPEC]: this host as a checklist, with the commands that mend it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stepgrid.cli.failures import CommandError
from stepgrid.cli.spec_arguments import add_narrowing, quiet_plan, spec_error, use_site
from stepgrid.errors import FAILED, FINE
from stepgrid.host.locks import LockBusy, host_lock_path, locked
from stepgrid.host.tuning import count_files, restore
from stepgrid.language.site import current_site
from stepgrid.summarize import json_text
from stepgrid.workflow import host_plan
from stepgrid.workflow.doctor import sections

if TYPE_CHECKING:
    from stepgrid.host.host_check import Finding

NAME_WIDTH = 14


def add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="also check what this spec needs: hardware, programs")
    add_narrowing(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument(
        "--restore", action="store_true", help="restore host settings that a killed `noise: fix` run changed"
    )


def run_doctor(args: argparse.Namespace) -> int:
    if args.restore:
        return _restore_settings()
    if errors := [problem for problem in use_site(args) if problem.severity == "error"]:
        raise spec_error(errors[0].where.file, errors)
    plan = quiet_plan(args) if args.spec else None
    findings: list[Finding] = []
    objects = []
    for section in sections(host_plan.store(), current_site(), plan):
        findings += section.findings
        if args.format == "json":
            objects.append({"title": section.title, "findings": [finding.to_json() for finding in section.findings]})
        else:
            lines = [line for finding in section.findings for line in _finding_lines(finding)]
            print(section.title, *lines, sep="\n", flush=True)
    if args.format == "json":
        print(json_text.text({"sections": objects, "verdict": verdict(findings)}))
    else:
        print(f"\n{verdict(findings)}")
    return FAILED if any(finding.severity == "stops" for finding in findings) else FINE


def _restore_settings() -> int:
    try:
        with locked(host_lock_path(), shared=True, wait=False):
            restored, failures = restore(host_lock_path())
    except LockBusy as error:
        holders = ", ".join(map(str, error.holders)) or "unknown"
        sentence = f"a run measures now (process {holders}): it puts its settings back when it ends"
        raise CommandError(sentence, FAILED) from error
    print(f"put back: {count_files(restored)}" if restored else "there is nothing to put back")
    for sentence in failures:
        print(f"not put back: {sentence}")
    return FAILED if failures else FINE


def _finding_lines(finding: Finding) -> Sequence[str]:
    lines = [f"  {finding.severity:<8} {finding.name:<{NAME_WIDTH}} {finding.text}"]
    if finding.severity not in ("ok", "unknown"):
        expectation = f"expected: {finding.expected}" if finding.expected else ""
        lines += [f"  {'':<8} {'':<{NAME_WIDTH}} {text}" for text in (expectation, finding.mend) if text]
    return lines


def verdict(findings: Sequence[Finding]) -> str:
    counts = {name: sum(finding.severity == name for finding in findings) for name in ("stops", "warning", "unknown")}
    stops = f"{counts['stops']} would stop a run" if counts["stops"] else "nothing here would stop a run"
    return f"{stops}; {counts['warning']} warning{'' if counts['warning'] == 1 else 's'}, {counts['unknown']} unknown"
