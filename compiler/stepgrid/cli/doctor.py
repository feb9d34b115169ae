"""stepgrid doctor [SPEC]: this host as a checklist, with the commands that would mend what is wrong."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.host.locks import LockBusy, host_lock_path, locked
from stepgrid.host.tuning import count_files, restore
from stepgrid.language.site import current_site
from stepgrid.summarize.formats import json_text
from stepgrid.workflow import host_plan
from stepgrid.workflow.doctor.checks import sections

if TYPE_CHECKING:
    from stepgrid.host.host_check import Finding
    from stepgrid.workflow.doctor.checks import Section

FINE, PROBLEMS, STOPPED = 0, 1, 3
WIDTH = 14  # of a name


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="also check what this spec needs: hardware, programs")
    spec_arguments.narrowing(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument(
        "--restore", action="store_true", help="restore host settings that a killed `noise: fix` run changed"
    )


def run(args: argparse.Namespace) -> int:
    if args.restore:
        return _restore()
    if problems := [each for each in spec_arguments.wrong_site(args) if each.severity == "error"]:
        spec_arguments.tell(problems[0].where.file, None, problems)
        return PROBLEMS
    plan = spec_arguments.quietly(args, args.spec) if args.spec else None
    if args.spec and plan is None:
        return PROBLEMS
    found = sections(host_plan.store(), current_site(), plan)
    return _json(list(found)) if args.format == "json" else _text(found)


def _restore() -> int:
    try:
        with locked(host_lock_path(), shared=True, wait=False):
            back, failed = restore(host_lock_path())
    except LockBusy as busy:
        who = ", ".join(map(str, busy.holders)) or "unknown"
        print(f"a run measures now (process {who}): it puts its settings back when it ends")
        return STOPPED
    print(f"put back: {count_files(back)}" if back else "there is nothing to put back")
    for sentence in failed:
        print(f"not put back: {sentence}")
    return STOPPED if failed else FINE


def _text(found: Iterable[Section]) -> int:
    everything: list[Finding] = []
    for section in found:
        print(section.title, *(line for each in section.findings for line in _lines(each)), sep="\n", flush=True)
        everything += section.findings
    print(f"\n{verdict(everything)}")
    return _status(everything)


def _lines(each: Finding) -> Iterator[str]:
    yield f"  {each.severity:<8} {each.name:<{WIDTH}} {each.text}"
    if each.severity not in ("ok", "unknown"):
        yield from (f"  {'':<8} {'':<{WIDTH}} {text}" for text in (_expected(each), each.mend) if text)


def _expected(each: Finding) -> str:
    return f"expected: {each.expected}" if each.expected else ""


def verdict(found: Sequence[Finding]) -> str:
    count = {name: sum(each.severity == name for each in found) for name in ("stops", "warning", "unknown")}
    first = f"{count['stops']} would stop a run" if count["stops"] else "nothing here would stop a run"
    plural = "s" if count["warning"] != 1 else ""
    return f"{first}; {count['warning']} warning{plural}, {count['unknown']} unknown"


def _json(found: Sequence[Section]) -> int:
    everything = [each for section in found for each in section.findings]
    listed = [{"title": each.title, "findings": [one.to_json() for one in each.findings]} for each in found]
    print(json_text.text({"sections": listed, "verdict": verdict(everything)}))
    return _status(everything)


def _status(found: Iterable[Finding]) -> int:
    return STOPPED if any(each.severity == "stops" for each in found) else FINE
