"""How late Snakemake notices the end of a stage on SLURM: `.venv/bin/python -m bench.slurm_polling`, as root.

A load of so many seconds is followed by a row that waits for it. What passes from the end of the load's job to the
submission of the row's is the lateness of the executor's polling; of both SLURM tells whole seconds.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from scripts import slurm_cluster
from scripts.slurm_cluster import Cluster

SPEC = """\
title: a load and what waits for it
builds: {{sh: {{engine: program, version: "1.0", source: {{system: sh}}, flags: {{programs: sh}}}}}}
steps:
  - {{name: load, kind: command, argv: [sh, -c, "sleep {seconds}; echo {number} > {{data}}/f"], measured: false,
     mutates: true}}
  - checkpoint: there
  - {{name: go, kind: command, argv: [sh, -c, "cat {{data}}/f"]}}
"""
SITE = "data: {disk}\nslurm: {{machines: {{here: {{nodes: [n1]}}}}}}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seconds", nargs="*", type=float, help="of the loads (default: 10 60)")
    parser.add_argument("--times", type=int, default=5)
    args = parser.parse_args()
    if reason := slurm_cluster.lacking() or slurm_cluster.lacking_plugin():
        print(reason, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as top:
        cluster = Cluster(Path(top, "cluster"))
        (checkout := Path(top, "checkout")).mkdir()
        try:
            cluster.up(nodes=1)
            (checkout / "site.yaml").write_text(SITE.format(disk=cluster.disk), encoding="utf-8")
            _lateness(cluster, checkout, 0, 0)  # with the build
            print("| load | its job | seconds from its end to the next submission | median |\n|---|---|---|---|")
            for seconds in args.seconds or (10, 60):
                print(_row(cluster, checkout, seconds, args.times), flush=True)
        finally:
            cluster.down()
    return 0


def _row(cluster: Cluster, checkout: Path, seconds: float, times: int) -> str:
    found = [_lateness(cluster, checkout, seconds, number + 1) for number in range(times)]
    late = sorted(each for _, each in found)
    job = statistics.median(each for each, _ in found)
    listed = ", ".join(f"{each:.0f}" for each in late)
    return f"| {seconds:g} s | {job:.0f} s | {listed} | {statistics.median(late):.0f} s |"


def _lateness(cluster: Cluster, checkout: Path, seconds: float, number: int) -> tuple[float, float]:
    """Seconds of the load's job, with its start, and from its end to the submission of the row's."""
    (checkout / "a.yaml").write_text(SPEC.format(seconds=seconds, number=number), encoding="utf-8")
    argv = [sys.executable, "-m", "stepgrid.cli", "run", "a.yaml", "--on", "slurm"]
    subprocess.run(argv, cwd=checkout, env=cluster.run_environment, check=True, capture_output=True)
    load, row = _jobs(cluster.ask("scontrol", "--oneliner", "show", "jobs"))[-2:]
    return _time(load, "EndTime") - _time(load, "SubmitTime"), _time(row, "SubmitTime") - _time(load, "EndTime")


def _jobs(said: str) -> Sequence[str]:
    return sorted(said.splitlines(), key=lambda line: int(re.findall(r"^JobId=(\d+)", line)[0]))


def _time(job: str, name: str) -> float:
    return datetime.fromisoformat(re.findall(rf"\b{name}=(\S+)", job)[0]).timestamp()


if __name__ == "__main__":
    sys.exit(main())
