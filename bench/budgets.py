"""The budgets of docs/concepts/speed.md beside what is spent: `.venv/bin/python bench/budgets.py [--rebench PROGRAM]`.

CPU seconds (user and system) of commands, wall time where a person waits for a run: minima, as other work only adds.
Exit status 1 where a budget is missed. With a ReBench 1.4 it prints the plan of the same 10,000 cells, which is the
budget of ours."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.spent import spent, stepgrid  # noqa: E402  # the checkout's own

RUNS = 5  # of which the least counts
SPEC = """\
title: "nothing, many times"
builds: {{true: {{engine: program, version: 1, source: {{system: "true"}}}}}}
steps:
  - name: nothing
    kind: command
    argv: ["true", "{{{{ params.number }}}}"]
    metrics: {{ops: {{pattern: 'ops=(\\S+)', better: higher}}}}
params: {{number: 0}}
sweep: {{number: {{param: number, values: [{values}]}}}}
allow: {{no-repeats: "only the cost of a cell counts", step-short: "likewise"}}
repeat: {loads}
"""
OF_CELLS = {
    "check": ["check", "a.yaml"],
    "plan": ["plan", "a.yaml"],
    "plan, JSON": ["plan", "a.yaml", "--format", "json"],
    "run -n": ["run", "a.yaml", "-n"],
}
STAGES = """\
title: three stages of a second
builds: {sh: {engine: program, version: 1, source: {system: sh}}}
steps: [{name: wait, kind: command, argv: [sh, -c, "sleep 1; echo ops=VALUE$0", "{{ params.number }}"],
         metrics: {ops: {pattern: 'ops=(\\d+)', better: higher}}}]
params: {number: 0}
sweep: {number: {param: number, values: [1, 2, 3]}}
allow: {no-repeats: "only the time beside the stages counts", step-short: "likewise"}
"""
REBENCH = """\
benchmark_suites:
  nothing: {{gauge_adapter: Time, command: "%(benchmark)s %(input)s", input_sizes: [{values}], benchmarks: ["true"]}}
executors: {{sh: {{path: /bin, executable: sh}}}}
experiments: {{nothing: {{suites: [nothing], executions: [sh]}}}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rebench", metavar="PROGRAM", help="a ReBench 1.4")
    options = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="stepgrid-budgets-") as folder:
        for name, budget, seconds in rows(Path(folder), options.rebench):
            is_missed = budget is not None and seconds > budget
            missed += is_missed
            limit = "" if budget is None else f" of {budget:.2f} s"
            print(f"{name:48}{seconds:6.2f} s{limit}{': MISSED' if is_missed else ''}", flush=True)
    return 1 if missed else 0


def rows(folder: Path, rebench: str | None) -> Iterator[tuple[str, float | None, float]]:
    """Yield what was measured, its budget and the seconds."""
    yield "check of the quickstart", 0.35, _cpu(ROOT, "check", "specs/quickstart.yaml")
    posts = {post: _cpu(ROOT, "check", str(post), runs=1) for post in sorted((ROOT / "specs/posts").glob("*.yaml"))}
    slowest = max(posts, key=posts.__getitem__)
    yield f"check of {slowest.stem}", 1.0, _cpu(ROOT, "check", str(slowest))
    yield "plan of 1,000 cells x 3", 1.5, _cpu(_cells(folder / "few", 1_000, 3), *OF_CELLS["plan"])
    many, limit = _cells(folder / "many", 10_000, 1), None
    if rebench:
        values = ", ".join(map(str, range(10_000)))
        (many / "rebench.conf").write_text(REBENCH.format(values=values), encoding="utf-8")
        words = [rebench, "--execution-plan", "--disable-data-reporting", "rebench.conf"]
        limit = _least(lambda: spent(words, many).cpu)
        yield "ReBench prints the plan of 10,000 cells", None, limit
    yield "plan of 10,000 cells", limit, _cpu(many, *OF_CELLS["plan"])
    stages = folder / "stages"
    stages.mkdir()
    edits = []
    for value in range(RUNS + 1):  # the first makes the build
        (stages / "a.yaml").write_text(STAGES.replace("VALUE", str(value)), encoding="utf-8")
        edits.append(stepgrid(stages, "run", "a.yaml").seconds - 3)
    yield "an edit of three stages of a second, beside them", 1.5, min(edits[1:])
    yield "nothing to do", 0.15, _least(lambda: stepgrid(stages, "run", "a.yaml").seconds)


def _cells(folder: Path, cells: int, loads: int) -> Path:
    folder.mkdir()
    values = ", ".join(map(str, range(cells)))
    (folder / "a.yaml").write_text(SPEC.format(values=values, loads=loads), encoding="utf-8")
    return folder


def _cpu(folder: Path, *words: str, runs: int = RUNS) -> float:
    return _least(lambda: stepgrid(folder, *words).cpu, runs)


def _least(measure: Callable[[], float], runs: int = RUNS) -> float:
    return min(measure() for _ in range(runs))


if __name__ == "__main__":
    sys.exit(main())
