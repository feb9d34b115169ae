"""What stepgrid costs: the same four db_bench steps by a shell script and by `stepgrid run`, in alternating pairs.

`.venv/bin/python bench/overhead.py [--pairs 20] [--seconds 10] [--keys 200k]`, on a host that does nothing else. The
build and the load are there before the first pair; both arms start from the loaded database, its SST files linked and
everything else copied, after a sync. The script runs the commands that stepgrid recorded: same arguments, environment,
seeds. It samples nothing, looks at nothing, keeps the outputs."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import script  # noqa: E402  # the checkout's own
from bench.overhead_run import Place, Run, again, prepared  # noqa: E402
from bench.ratios import ratio, signed_rank  # noqa: E402
from bench.spent import Spent, spent  # noqa: E402

Pair = tuple[script.Plain, Run]


def main() -> None:
    asked = _asked()
    with tempfile.TemporaryDirectory(prefix="stepgrid-overhead-") as name:
        folder = Path(name).resolve()
        place = prepared(folder / "checkout", asked.seconds, asked.keys)
        written = script.write(folder / "steps.sh", place)
        pairs = []
        for index in range(asked.pairs):
            pairs.append(_pair(folder / f"plain-{index}", written, place, index))
            print(_told(index, pairs[-1]), file=sys.stderr, flush=True)
    _report(pairs, asked)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What stepgrid costs beside a shell script.")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=10, help="of each step")
    parser.add_argument("--keys", default="200k")
    return parser.parse_args()


def _pair(folder: Path, written: Path, place: Place, index: int) -> Pair:
    """By turns: script, stepgrid; stepgrid, script; …"""
    if index % 2:
        run = _stepgrid(place)
        return _plain(folder, written, place), run
    plain = _plain(folder, written, place)
    return plain, _stepgrid(place)


def _plain(folder: Path, written: Path, place: Place) -> script.Plain:
    folder.mkdir()
    os.sync()
    took = spent(["sh", str(written), str(place.image), str(folder)], folder)
    return script.read(folder, took, place)


def _stepgrid(place: Place) -> Run:
    os.sync()
    return again(place)


def _told(index: int, pair: Pair) -> str:
    plain, run = pair
    return f"pair {index + 1}: script {plain.took.seconds:.2f} s, stepgrid {run.took.seconds:.2f} s"


def _report(pairs: Sequence[Pair], asked: argparse.Namespace) -> None:
    print(f"{len(pairs)} pairs, four steps of {asked.seconds} s, {asked.keys} keys, {os.cpu_count()} processors\n")
    _wall(pairs)
    _where([run for _, run in pairs])
    _rates(pairs)


def _wall(pairs: Sequence[Pair]) -> None:
    print(f"{'wall, s':44}{'script':>9}{'stepgrid':>9}   ratio, median of the pairs [95 % interval]")
    print(_row("all of `stepgrid run`", [(plain.took, run.took) for plain, run in pairs]))
    print(_row("without Snakemake, collect, summarize", [(plain.took, run.stage) for plain, run in pairs]))


def _row(name: str, pairs: Sequence[tuple[Spent, Spent]]) -> str:
    plain, ours = (median(each[arm].seconds for each in pairs) for arm in (0, 1))
    return f"{name:44}{plain:9.2f}{ours:9.2f}   {ratio([[b.seconds / a.seconds] for a, b in pairs])}"


def _where(runs: Sequence[Run]) -> None:
    print("\nwhere the time beyond the steps goes, medians, s")
    for name in runs[0].parts:
        print(f"  {name:42}{median(run.parts[name] for run in runs):9.2f}")
    print(f"\nCPU of stepgrid itself, s a run{'':13}{median(run.own_cpu for run in runs):9.2f}")
    print(f"{'of it the sampler, share of one core':44}{median(run.sampler for run in runs):9.2%}")


def _rates(pairs: Sequence[Pair]) -> None:
    print("\nQPS, stepgrid / script: median of the pairs [95 % interval]")
    steps = pairs[0][0].rates
    ratios = [[run.rates[step] / plain.rates[step] for step in steps] for plain, run in pairs]
    for index, step in enumerate(steps):
        print(f"  {step:42}{ratio([[each[index]] for each in ratios])}")
    print(f"  {'all four':42}{ratio(ratios)}   Wilcoxon's p {signed_rank(ratios):.2f}")


if __name__ == "__main__":
    main()
