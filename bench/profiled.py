"""What a profile pass costs the runs that are measured: pairs of a sweep with `profile: all` and the same without it.

`.venv/bin/python bench/profiled.py [--pairs 12] [--seconds 4] [--keep FOLDER]`: each pair measures one more load,
now the one first and then the other. Prints the ratios of QPS and of CPU per operation, and those of a second sweep
without a profile: what the host makes of equal sweeps."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.ratios import ratio  # noqa: E402  # the checkout's own
from bench.small_tree import SMALL_TREE  # noqa: E402
from bench.spent import stepgrid  # noqa: E402
from bench.why import report_of  # noqa: E402

TITLE, NAME = "beside a profile", "beside.yaml"
SPEC = (
    f"title: {TITLE}\n"
    + SMALL_TREE
    + """\
workload: db_bench.sequence
steps: [fillseq, flush, {{checkpoint: loaded}}, readrandom]
params: {{keys: 200k, duration: {seconds}s, threads: 1}}
allow: {{step-short: a bench, read-only-step: a bench, no-repeats: a bench}}
{profile}
"""
)
ARMS = {"none": "", "also none": "", "profiled": "profile: {where: all, for: 1s, every: 2s}"}
METRICS = ("qps", "cpu_us_per_op")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a profile pass costs the runs that are measured.")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=4, help="of each step")
    parser.add_argument("--keep", type=Path, help="where it measures; what is there is not measured again")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        measure((asked.keep or Path(place)).resolve(), asked.pairs, asked.seconds)


def measure(place: Path, pairs: int, seconds: int) -> None:
    folders = {arm: place / arm.replace(" ", "-") for arm in ARMS}
    for arm, folder in folders.items():
        (folder / "outputs").mkdir(parents=True, exist_ok=True)
        text = SPEC.format(library=ROOT / "specs/library", seconds=seconds, profile=ARMS[arm])
        (folder / NAME).write_text(text, encoding="utf-8")
    for number in range(pairs):
        for folder in [*folders.values()][:: -1 if number % 2 else 1]:
            stepgrid(folder, "run", NAME, "--set", f"repeat={number + 1}")
    figures = {arm: by_load(folder) for arm, folder in folders.items()}
    for arm in [*ARMS][1:]:
        for metric in METRICS:
            values = [(figures[arm][load][metric] / base[metric],) for load, base in figures["none"].items()]
            print(f"{arm}, {metric}: {ratio(values)} of none, {len(values)} pairs", flush=True)


def by_load(folder: Path) -> dict[int, dict[str, float]]:
    """The figures of the measured runs."""
    runs = [run for run in report_of(folder, TITLE).data.runs if run.step == "readrandom"]
    return {run.load: {metric: run.metrics[metric] for metric in METRICS} for run in runs}


if __name__ == "__main__":
    main()
