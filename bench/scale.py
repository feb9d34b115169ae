"""What the commands cost by cell and by result: `.venv/bin/python bench/scale.py [--cells 50000] [--results 20000]`.

Limits (docs/speed.md): 1 ms of processor time and 10 KB of memory for each cell or result, beside what the same
command takes for ten. Exit status 1 where one is missed. The cells are those of a program with one parameter, one stage
each: nothing is shared, so that each is worked out. Results are made up (bench/measured.py), with one figure each."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


SECONDS, BYTES = 1e-3, 10_000  # of each cell or result, at most
FEW = 10
LOADS = 2  # of each cell that has results
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
OF_RESULTS = {
    "status, first": ["status", "a.yaml"],
    "status": ["status", "a.yaml"],
    "report, first": ["report", "a.yaml"],
    "report": ["report", "a.yaml"],
    "results": ["results", "a.yaml"],
    "query": ["query", "--spec", "a.yaml", "select count(*) from steps"],
}


class Cost(NamedTuple):
    seconds: float  # of processor, user and system
    memory: float  # bytes, at most

    def __str__(self) -> str:
        return f"{self.seconds:6.1f} s {self.memory / 1e6:6.0f} MB"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=50_000)
    parser.add_argument("--results", type=int, default=20_000)
    options = parser.parse_args()
    missed = 0
    for what, many, commands, loads in (
        ("cells", options.cells, OF_CELLS, 1),
        ("results", options.results, OF_RESULTS, LOADS),
    ):
        few = dict(costs(FEW, commands, loads))
        for name, cost in costs(many, commands, loads):
            seconds = (cost.seconds - few[name].seconds) / many
            memory = (cost.memory - few[name].memory) / many
            is_fine = seconds <= SECONDS and memory <= BYTES
            missed += not is_fine
            line = f"{many:,} {what}: {name:16}{cost}; of each {1e3 * seconds:.2f} ms, {memory / 1e3:.1f} KB"
            print(f"{line}{'' if is_fine else ': MISSED'}", flush=True)
    return 1 if missed else 0


def costs(many: int, commands: dict[str, list[str]], loads: int) -> Iterator[tuple[str, Cost]]:
    """Of commands in a new folder with so many cells, or with so many results where a cell has several loads."""
    with tempfile.TemporaryDirectory(prefix="stepgrid-scale-") as folder:
        values = ", ".join(map(str, range(many // loads)))
        (Path(folder) / "a.yaml").write_text(SPEC.format(values=values, loads=loads), encoding="utf-8")
        if loads > 1:
            make = f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'compiler')]}; from bench import measured; "
            _spent([sys.executable, "-c", f"{make}measured.make('a.yaml', has_summary=False)"], folder)
        for name, command in commands.items():
            yield name, _spent([sys.executable, "-m", "stepgrid.cli", *command], folder)


def _spent(argv: Sequence[str], folder: str) -> Cost:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "STEPGRID_SITE": ""}
    with (Path(folder) / "said").open("wb") as said:
        process = subprocess.Popen(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(argv)} ended with {process.returncode}: {(Path(folder) / 'said').read_text()[-2000:]}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


if __name__ == "__main__":
    sys.exit(main())
