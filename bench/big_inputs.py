"""`stepgrid check` of large specs: each ends with a plan or with problems, within 10 s of processor time and 1 GB.

`python bench/big_inputs.py [--bytes 524288] [NAME …]`. Names: of the inputs below."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SECONDS, MEMORY = 10.0, 1_000_000_000
LARGEST = 512 << 10  # bytes of a spec; a larger one is refused unread
ENDS = (0, 1, 2)  # sound, at fault, or refused
BUILD = "{engine: program, version: 1, source: {system: sh}, flags: {programs: sh}}"
STEP = "{name: go, kind: command, argv: [sh, -c, ':']}"
HEAD = f"""\
title: large
builds: {{a: {BUILD}}}
repeat: 1
allow: {{no-repeats: "only checked", step-short: "likewise"}}
"""
SPEC = f"{HEAD}steps: [{STEP}]\n"


class Ended(NamedTuple):
    status: int
    seconds: float  # of processor
    memory: int  # bytes, at most


def many(one: str, between: str = "") -> Callable[[int], str]:
    """As many as the size allows; `%d` is the number of each."""

    def made(size: int) -> str:
        parts: list[str] = []
        for number in count():
            part = one.replace("%d", str(number))
            size -= len(part.encode()) + len(between)
            if size < 0:
                return between.join(parts)
            parts.append(part)
        raise AssertionError

    return made


def within(before: str, middle: Callable[[int], str], after: str = "") -> Callable[[int], str]:
    return lambda size: before + middle(size - len(before) - len(after)) + after


INPUTS: Mapping[str, Callable[[int], str]] = {
    "brackets": many("["),
    "braces": many("{"),
    "maps in maps": many("{a: "),
    "closed brackets": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "one map in a line": lambda size: " ".join(["a:"] * (size // 3)),
    "dashes": many("- "),
    "question marks": many("? "),
    "exclamation marks": many("!"),
    "anchors": many("&a%d "),
    "aliases": within(f"{SPEC}x: &x 1\ny: [", many("*x", ", "), "]\n"),
    "quotes": many('"'),
    "one long word": many("a"),
    "one long text": within(f"{SPEC}params: {{x: '", many("a"), "'}\n"),
    "digits": within(f"{SPEC}params: {{x: ", many("9"), "}\n"),
    "blanks": many(" "),
    "lines": many("\n"),
    "comments": many("# a comment\n"),
    "tabs": many("\t"),
    "documents": many("---\n"),
    "NUL": many("\0"),
    "the one character above": many("\U0001f600"),
    "unknown keys": within(SPEC, many("key%d: 1\n")),
    "the same key": within(SPEC, many("title: large\n")),
    "params": within(f"{SPEC}params:\n", many("  p%d: %d\n")),
    "params that use each other": within(f"{SPEC}params:\n  p0: 1\n", many("  q%d: '{{ params.p0 + %d }}'\n")),
    "params that are not there": within(f"{SPEC}params:\n", many("  q%d: '{{ params.nowhere%d }}'\n")),
    "a chain of params": within(f"{SPEC}params:\n", many("  p%d: '{{ params.p1%d }}'\n")),
    "one long expression": within(f"{SPEC}params: {{x: '{{{{ 1", many(" + 1"), " }}'}\n"),
    "many expressions": within(f"{SPEC}params: {{x: '", many("{{ 1 }}"), "'}\n"),
    "steps": within(f"{HEAD}steps:\n", many("  - {name: s%d, kind: command, argv: [sh]}\n")),
    "steps of one name": within(f"{HEAD}steps:\n", many(f"  - {STEP}\n")),
    "steps of unknown kinds": within(f"{HEAD}steps:\n", many("  - {name: s%d, kind: comand}\n")),
    "builds": within(f"title: large\nsteps: [{STEP}]\nrepeat: 1\nbuilds:\n", many(f"  b%d: {BUILD}\n")),
    "builds at fault": within(f"{SPEC}builds:\n".replace(HEAD, ""), many("  b%d: {engine: rocksd, version: %d}\n")),
    "points": within(f"{SPEC}params: {{n: 0}}\nsweep: {{n: {{param: n, values: [", many("%d", ", "), "]}}\n"),
    "axes": within(f"{SPEC}params: {{n: 0}}\nsweep:\n", many("  a%d: {param: n, values: [1, 2]}\n")),
    "conditions": within(f"{SPEC}exclude:\n", many("  - \"build == 'a%d'\"\n")),
    "claims": within(f"{SPEC}report:\n  claims:\n", many("    - {title: c%d, metric: qps, expect: faster}\n")),
    "options": within(f"{SPEC}options:\n", many("  - {cache_siz%d: 1}\n")),
    "includes": within(f"{SPEC}include: [", many("f%d.yaml", ", "), "]\n"),
    "allow": within(f"{SPEC}allow:\n", many("  step-shor%d: x\n")),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=LARGEST)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(INPUTS))
    options = parser.parse_args()
    slowest, largest, wrong = 0.0, 0, 0
    for name in options.names or INPUTS:
        text = INPUTS[name](options.bytes)
        ended = _checked(text)
        fine = ended.status in ENDS and ended.seconds <= SECONDS and ended.memory <= MEMORY
        said = f"{ended.seconds:.1f} s, {ended.memory / 1e6:.0f} MB, exit status {ended.status}"
        print(f"{name} ({len(text.encode()):,} bytes): {said}{'' if fine else ': WRONG'}", flush=True)
        slowest, largest, wrong = max(slowest, ended.seconds), max(largest, ended.memory), wrong + (not fine)
    print(f"{len(options.names or INPUTS)} inputs, {wrong} wrong; at most {slowest:.1f} s and {largest / 1e6:.0f} MB")
    return 1 if wrong else 0


def _checked(text: str) -> Ended:
    with tempfile.TemporaryDirectory(prefix="stepgrid-big-") as folder:
        (Path(folder) / "a.yaml").write_text(text, encoding="utf-8")
        env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "STEPGRID_SITE": ""}
        argv = [sys.executable, "-m", "stepgrid.cli", "check", "a.yaml"]
        with (Path(folder) / "said").open("wb") as said:
            process = subprocess.Popen(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            _, waited, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(waited)
        traced = b"Traceback" in (Path(folder) / "said").read_bytes()
    status = -1 if traced else process.returncode
    return Ended(status, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


if __name__ == "__main__":
    sys.exit(main())
