"""What a profile pass costs the runs that are measured: pairs of a sweep with `profile: all` and the same without it.

`.venv/bin/python bench/profiled.py [--pairs 12] [--steps 10] [--seconds 1] [--keep FOLDER]`: each pair measures one
more load, whose step runs ten times; now the one is first and then the other. Prints the ratios of QPS and of CPU per
operation, and those of a second sweep without a profile: what the host makes of equal sweeps."""

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
steps: [fillseq, flush, {{checkpoint: loaded}}, {steps}]
params: {{keys: 10k, duration: {seconds}s, threads: 1}}
launch: {{cpus: 1}}
allow: {{step-short: a bench, read-only-step: a bench, no-repeats: a bench}}
{profile}
"""
)
ARMS = {"none": "", "also none": "", "profiled": "profile: {where: all, for: 1s, every: 2s}"}
METRICS = ("qps", "cpu_us_per_op")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a profile pass costs the runs that are measured.")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--steps", type=int, default=10, help="of each load, one process each")
    parser.add_argument("--seconds", type=int, default=1, help="of each step")
    parser.add_argument("--keep", type=Path, help="where it measures; what is there is not measured again")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        measure((asked.keep or Path(place)).resolve(), asked.pairs, asked.steps, asked.seconds)


def measure(place: Path, pairs: int, count: int, seconds: int) -> None:
    folders = {arm: place / arm.replace(" ", "-") for arm in ARMS}
    steps = ", ".join(f"{{use: readrandom, as: read{number}}}" for number in range(count))
    for arm, folder in folders.items():
        (folder / "outputs").mkdir(parents=True, exist_ok=True)
        text = SPEC.format(library=ROOT / "specs/library", steps=steps, seconds=seconds, profile=ARMS[arm])
        (folder / NAME).write_text(text, encoding="utf-8")
    for number in range(pairs):
        for folder in [*folders.values()][:: -1 if number % 2 else 1]:
            stepgrid(folder, "run", NAME, "--set", f"repeat={number + 1}")
    figures = {arm: by_load(folder) for arm, folder in folders.items()}
    for arm in [*ARMS][1:]:
        for metric in METRICS:
            pairs_of_steps = [
                [figures[arm][load][step][metric] / values[metric] for step, values in steps_of_base.items()]
                for load, steps_of_base in figures["none"].items()
            ]
            print(f"{arm}, {metric}: {ratio(pairs_of_steps)} of none, {len(pairs_of_steps)} pairs", flush=True)


def by_load(folder: Path) -> dict[int, dict[str, dict[str, float]]]:
    """The figures of the measured runs, by load and step."""
    loads = dict[int, dict[str, dict[str, float]]]()
    for run in report_of(folder, TITLE).data.runs:
        if run.step.startswith("read"):
            loads.setdefault(run.load, {})[run.step] = {metric: run.metrics[metric] for metric in METRICS}
    return loads


if __name__ == "__main__":
    main()
