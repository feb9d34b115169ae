"""What goes wrong on a cluster, done to a real SLURM of three nodes on this machine: `python -m bench.slurm_faults`.

As root. A sweep of three loads and six rows, 6 s each, is struck while its first rows are measured. Then the same plain
command goes on until it ends with 0. Each stage must have exactly one result, and every comparison one node.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scripts import slurm_cluster
from scripts.slurm_cluster import Cluster
from stepgrid.plan.files import plan_file

ROOT = Path(__file__).resolve().parents[1]
SPEC = """\
title: three nodes
builds: {sh: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
steps:
  - {name: load, kind: command, argv: [sh, -c, "sleep 1; echo loaded > {data}/file"], measured: false, mutates: true}
  - checkpoint: there
  - {name: go, kind: command, argv: [sh, -c, "sleep 6; cat {data}/file # {{ params.cache }}"]}
params: {cache: a}
sweep: {cache: {param: cache, values: [a, b], from: there}}
repeat: 3
report: {base: {cache: a}}
"""
STAGES, PATIENCE, SMALL = 9, 400.0, "48m"


@dataclass(slots=True)
class Trial:
    cluster: Cluster
    folder: Path
    more: Mapping[str, str] = field(default_factory=dict)  # environment of the run
    runs: list[tuple[int | None, str]] = field(default_factory=list)

    def start(self) -> subprocess.Popen[str]:
        (self.folder / "a.yaml").write_text(SPEC, encoding="utf-8")
        machines = "slurm: {machines: {here: {nodes: [n1, n2, n3]}}}"
        (self.folder / "site.yaml").write_text(f"data: {self.cluster.disk}\n{machines}\n", encoding="utf-8")
        env = {**self.cluster.environment, "PYTHONPATH": str(ROOT / "compiler"), "STEPGRID_SITE": "site.yaml"}
        env |= self.more
        argv = [sys.executable, "-m", "stepgrid.cli", "run", "a.yaml", "--on", "slurm"]
        screen = (self.folder.parent / f"screen.{len(self.runs)}").open("w+")
        return subprocess.Popen(argv, cwd=self.folder, env=env, text=True, stdout=screen, stderr=screen)

    def end(self, process: subprocess.Popen[str]) -> None:
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            status = None
        self.runs.append((status, (self.folder.parent / f"screen.{len(self.runs)}").read_text(encoding="utf-8")))

    def measuring(self, node: str = "") -> str:
        """The SLURM job that measures a row, and where; waits until one does."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            begun = [_node(path) for path in self._attempts() if _measures(path.parent)]
            lines = self.cluster.ask("squeue", "--noheader", "--states=RUNNING", "--format=%i %N").splitlines()
            for line in lines:
                job, at = line.split()
                if at in begun and node in ("", at):
                    return job
            time.sleep(0.2)
        raise RuntimeError("nothing was measured")

    def _attempts(self) -> Iterator[Path]:
        yield from self.folder.glob("outputs/attempts/s-*/*/attempt.json")

    def results(self) -> Mapping[str, list[str]]:
        """Stage -> the nodes of its results."""
        found = defaultdict[str, list[str]](list)
        for path in self.folder.glob("outputs/results/s-*/*/attempt.json"):
            found[path.parts[-3]].append(_node(path))
        return found

    def faults(self) -> list[str]:
        """What must not be there."""
        found, many = self.results(), [nodes for nodes in self.results().values() if len(nodes) > 1]
        said = [f"{len(found)} of {STAGES} stages"] if len(found) != STAGES else []
        said += [f"{len(many)} measured twice"] if many else []
        divided = sum(len({node for stage in stages for node in found[stage]}) > 1 for stages in self._rows().values())
        return said + ([f"{divided} comparisons on two nodes"] if divided else [])

    def _rows(self) -> Mapping[int, list[str]]:
        plan = plan_file.read(next(self.folder.glob("outputs/plans/*/plan.json")).parent)
        found = defaultdict[int, list[str]](list)
        for stage in plan.stages:
            if stage.parent is not None:
                found[stage.load].append(stage.id)
        return found


def _node(record: Path) -> str:
    return str(json.loads(record.read_text(encoding="utf-8")).get("cluster_node"))


def _measures(attempt: Path) -> bool:
    journal = attempt / "journal.jsonl"
    return not (attempt / "failure.json").exists() and journal.exists() and '"go"' in journal.read_text()


# What is done, while the run goes on.


def node_dies(trial: Trial, process: subprocess.Popen[str]) -> None:
    trial.measuring("n2")
    trial.cluster.kill("n2")
    time.sleep(20)
    trial.cluster.start_node("n2")


def job_is_cancelled(trial: Trial, process: subprocess.Popen[str]) -> None:
    trial.cluster.ask("scancel", trial.measuring())


def job_is_killed(trial: Trial, process: subprocess.Popen[str]) -> None:
    trial.cluster.ask("scancel", "--signal=KILL", "--full", trial.measuring())


def job_is_preempted(trial: Trial, process: subprocess.Popen[str]) -> None:
    trial.measuring("n1")
    argv = ["--partition=urgent", "--exclusive", "--nodelist=n1", "--chdir=/", "--output=/dev/null"]
    trial.cluster.ask("sbatch", *argv, "--wrap", "sleep 5")


def controller_restarts(trial: Trial, process: subprocess.Popen[str]) -> None:
    trial.measuring()
    trial.cluster.kill("slurmctld")
    time.sleep(15)
    trial.cluster.start_controller()


def snakemake_is_killed(trial: Trial, process: subprocess.Popen[str]) -> None:
    trial.measuring()
    os.kill(process.pid, signal.SIGKILL)


def ctrl_c(trial: Trial, process: subprocess.Popen[str]) -> None:
    trial.measuring()
    os.kill(process.pid, signal.SIGINT)


def disk_fills(trial: Trial, process: subprocess.Popen[str]) -> None:
    trial.measuring()
    filler = trial.folder / "filler"
    with filler.open("wb") as file:
        try:
            while True:
                file.write(bytes(1 << 20))
                file.flush()
        except OSError:
            pass
    process.wait(PATIENCE)
    filler.unlink()


def names_are_late(trial: Trial, process: subprocess.Popen[str]) -> None:
    """From the start, by the environment of the run."""


def _late_names(top: Path, folder: Path) -> Mapping[str, str]:
    """What a node makes is seen 5 s later where the run was started (late_names.c)."""
    made, own = top / "late_names.so", top / "late_names.own"
    source = str(Path(__file__).with_name("late_names.c"))
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-w", "-o", str(made), source, "-ldl"], check=True)
    own.write_bytes(bytes(1 << 20))
    return {"LD_PRELOAD": str(made), "LATE_OWN": str(own), "LATE_BELOW": str(folder / "outputs"), "LATE_SECONDS": "5"}


FAULTS: Mapping[str, Callable[[Trial, subprocess.Popen[str]], None]] = {
    "a node dies, and comes back after 20 s": node_dies,
    "a job is cancelled (scancel)": job_is_cancelled,
    "a job is killed (scancel -s KILL)": job_is_killed,
    "a job is preempted and requeued": job_is_preempted,
    "slurmctld is killed, and starts after 15 s": controller_restarts,
    "Snakemake is killed, its jobs go on": snakemake_is_killed,
    "Ctrl-C": ctrl_c,
    "the shared disk fills": disk_fills,
    "names that nodes make are seen 5 s late": names_are_late,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", help="faults that have this in their name")
    parser.add_argument("--screens", action="store_true", help="print what each run said")
    args = parser.parse_args()
    if reason := slurm_cluster.lacking():
        print(reason, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as top:
        small = Path(top, "small")
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(small)], check=True)
        cluster = Cluster(Path(top, "cluster"))
        try:
            cluster.up()
            print("| fault | statuses of the runs | seconds | results | wrong |")
            print("|---|---|---|---|---|")
            for name, fault in FAULTS.items():
                if args.only is None or args.only in name:
                    print(
                        _row(cluster, small if fault is disk_fills else Path(top), name, fault, args.screens),
                        flush=True,
                    )
        finally:
            cluster.down()
            subprocess.run(["umount", "--lazy", str(small)], check=False)
    return 0


def _row(
    cluster: Cluster, top: Path, name: str, fault: Callable[[Trial, subprocess.Popen[str]], None], screens: bool
) -> str:
    folder = top / "trial" / "checkout"
    folder.mkdir(parents=True)
    more = _late_names(top, folder) if fault is names_are_late else {}
    trial, began = Trial(cluster, folder, more), time.monotonic()
    process = trial.start()
    fault(trial, process)
    trial.end(process)
    while trial.runs[-1][0] != 0 and len(trial.runs) < 4:
        trial.end(trial.start())
    took = time.monotonic() - began
    if screens:
        for status, said in trial.runs:
            print(f"--- {name}: {status}\n{said}", file=sys.stderr)
    statuses = ", ".join("killed" if (status or 0) < 0 else str(status) for status, _ in trial.runs)
    row = [name, statuses, f"{took:.0f}", str(sum(map(len, trial.results().values()))), "; ".join(trial.faults())]
    shutil.rmtree(folder.parent)
    return f"| {' | '.join(row)} |"


if __name__ == "__main__":
    sys.exit(main())
