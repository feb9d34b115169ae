"""The harness of kv_bench beside a loop by hand: throughput and CPU time of the same calls, by turns.

`.venv/bin/python bench/embedded.py [--pairs 15] [--keys 200000] [--engine fjall]`. Both are compiled first, from
specs/programs/kv_bench and the example by_hand in it; both make the same keys and values and call the engine alike.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.ratios import ratio  # noqa: E402  # the checkout's own
from bench.spent import spent  # noqa: E402

PACKAGE = ROOT / "specs/programs/kv_bench"
DURABILITY = {"fjall": "os", "lmdb": "os", "redb": "none"}  # the class of both arms, without a sync
LIMIT = 0.97


class Run(NamedTuple):
    rate: float  # operations per second
    cpu: float  # seconds of the process


def main() -> int:
    parser = argparse.ArgumentParser(description="kv_bench beside a loop by hand.")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--keys", type=int, default=200_000, help="of the database; as many operations")
    parser.add_argument("--engine", choices=DURABILITY, action="append")
    options = parser.parse_args()
    medians = []
    with tempfile.TemporaryDirectory(prefix="stepgrid-embedded-") as name:
        target = Path(os.environ.get("CARGO_TARGET_DIR", f"{name}/target"))
        build = ["cargo", "build", "--release", "--locked", "--bins", "--examples", "--target-dir", str(target)]
        subprocess.run(build, cwd=PACKAGE, check=True)
        print(
            f"{options.pairs} pairs of {options.keys} operations; kv_bench / by hand: operations per second, CPU time"
        )
        for engine in options.engine or DURABILITY:
            for benchmark in ("fillrandom", "readrandom"):
                rates, cpus = compare(target / "release", Path(name), engine, benchmark, options)
                print(f"  {engine:5} {benchmark:10}  {ratio(rates)}  {ratio(cpus)}", flush=True)
                medians.append(median(pair[0] for pair in rates))
    is_fast = min(medians) >= LIMIT
    print(f"\nthe lowest median is {min(medians):.3f}, {'at least' if is_fast else 'below'} {LIMIT}")
    return 0 if is_fast else 1


def compare(
    programs: Path, folder: Path, engine: str, benchmark: str, options: argparse.Namespace
) -> tuple[list[list[float]], list[list[float]]]:
    """Measure pairs, whose first arm alternates; give the ratios of the rates and of the CPU times."""
    rates, cpus = list[list[float]](), list[list[float]]()
    data = folder / "data"
    own = [str(programs / "kv_bench"), engine, benchmark, f"--db={data}", f"--num={options.keys}"]
    hand = [str(programs / "examples/by_hand"), engine, benchmark, str(data), str(options.keys)]
    for pair in range(1, options.pairs + 1):
        words = {"kv_bench": [*own, f"--durability={DURABILITY[engine]}", f"--seed={pair}"], "hand": [*hand, str(pair)]}
        names = sorted(words, reverse=pair % 2 == 0)
        runs = {name: measure(words[name], folder / "run") for name in names}
        rates.append([runs["kv_bench"].rate / runs["hand"].rate])
        cpus.append([runs["kv_bench"].cpu / runs["hand"].cpu])
    return rates, cpus


def measure(argv: list[str], folder: Path) -> Run:
    folder.mkdir(exist_ok=True)
    cpu = spent(argv, folder).cpu
    text = folder.with_name("run.log").read_text(encoding="utf-8")
    match = re.search(r"(\d+) ops/sec", text)
    assert match is not None, text
    return Run(float(match[1]), cpu)


if __name__ == "__main__":
    sys.exit(main())
