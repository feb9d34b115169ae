"""Whether the first cause that a report names is the right one: six sweeps of real engines whose cause is known.

`.venv/bin/python bench/why.py [--loads 3] [--seconds 4] [--keep FOLDER] [CASE …]`: some minutes. The device is limited
by a loop device and a cgroup, which takes root. `patch` compiles PostgreSQL twice, and takes the microseconds of the
patch's function from a profile, too."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import why_cases  # noqa: E402  # the checkout's own
from bench.spent import stepgrid  # noqa: E402
from bench.why_cases import EXTRA, SLOW, Case  # noqa: E402
from stepgrid.model import units  # noqa: E402
from stepgrid.plan import plan_file  # noqa: E402
from stepgrid.store.store import Store  # noqa: E402
from stepgrid.summarize.report import Report  # noqa: E402
from stepgrid.summarize.report_files import read_report  # noqa: E402
from stepgrid.summarize.statistics.verdicts import DIFFERENCES  # noqa: E402
from stepgrid_answers.changes import counter_changes  # noqa: E402
from stepgrid_answers.why import why  # noqa: E402

FIFTH = 0.2


def main() -> int:
    parser = argparse.ArgumentParser(description="Whether the first cause that a report names is the right one.")
    parser.add_argument("cases", nargs="*", help="all, unless some are named")
    parser.add_argument("--loads", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4, help="of each step")
    parser.add_argument("--keep", type=Path, help="where it measures; what is there is not measured again")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured((asked.keep or Path(folder)).resolve(), asked)
    return 0


def measured(folder: Path, asked: argparse.Namespace) -> list[bool]:
    (folder / "outputs").mkdir(parents=True, exist_ok=True)
    every = why_cases.cases(folder)
    wanted = [each for each in every if not asked.cases or each.name in asked.cases]
    if any(each.text is why_cases.SPEC for each in wanted):
        (folder / "cache.yaml").write_text(every[2].spec(asked.loads, asked.seconds), encoding="utf-8")
        stepgrid(folder, "builds", "cache.yaml", "--yes")
        why_cases.prepare(folder)
    right = [run(folder, each, asked) for each in wanted]
    print(f"the right cause first in {sum(right)} of {len(right)}")
    return right


def run(folder: Path, case: Case, asked: argparse.Namespace) -> bool:
    limited = case.name == "device"
    if limited and not why_cases.can_limit():
        print(f"{case.title}: not measured, since it takes root, loop devices and cgroup v1's blkio")
        return False
    spec = f"{case.name}.yaml"
    (folder / spec).write_text(case.spec(asked.loads, asked.seconds), encoding="utf-8")
    with why_cases.limited_disk(folder) if limited else nullcontext() as site:
        stepgrid(folder, "run", spec, *(["--site", str(site)] if site else []))
    report = report_of(folder, case.title)
    found = list(said(report))
    print(
        f"{case.title}", *(f"  {verdict}\n    {'; '.join(causes)}" for verdict, causes in found), sep="\n", flush=True
    )
    right = bool(found) and all(_right(case, verdict, causes) for verdict, causes in found)
    return right and (case.text is not why_cases.PATCHED or costs_as_much(report))


def costs_as_much(report: Report) -> bool:
    """Its function comes first in the table of functions, and its whole interval is within a fifth of what it costs."""
    table = next(table for table in report.tables.prepared if table.title.startswith("CPU by function"))
    print(*(f"    {' '.join(cell.text for cell in row)}" for row in table.rows), sep="\n", flush=True)
    name, *_, change = table.rows[0]
    low, high = (change.value + sign * float(change.text.partition("±")[2]) for sign in (-1, 1))
    return name.text == SLOW and low >= EXTRA * (1 - FIFTH) and high <= EXTRA * (1 + FIFTH)


def _right(case: Case, verdict: str, causes: Sequence[str]) -> bool:
    """A difference was found, and its first cause is the one that was made."""
    differs = any(verdict.endswith(f" {word}") for word in DIFFERENCES)
    return differs and bool(causes) and re.search(case.right, causes[0]) is not None


def report_of(folder: Path, title: str) -> Report:
    store = Store(folder / "outputs")
    plans = sorted(store.root.glob(f"plans/*/{plan_file.PLAN_FILE}"), key=lambda path: path.stat().st_mtime)
    names = [path.parent.name for path in plans if plan_file.read(path.parent).title == title]
    return read_report(store, names[-1])


def said(report: Report) -> Iterator[tuple[str, Sequence[str]]]:
    """The verdict of each comparison, and its causes."""
    for comparison in report.comparisons.leading:
        for case in comparison.cases():
            entry = case.entry
            if entry.ratio and entry.interval:
                between = units.interval(entry.interval.low, entry.interval.high, units.ratio)
                arm = ", ".join(map(str, case.arm))
                counters = report.data.details.counters([*case.point.places, *case.base.places])
                causes = [
                    *why(comparison, case, report.setup, report.data.details, counters),
                    *counter_changes(counters, case.point, case.base),
                ]
                yield f"{case.row.step}, {arm}: {entry.ratio:.2f} {between} {entry.verdict}", causes


if __name__ == "__main__":
    raise SystemExit(main())
