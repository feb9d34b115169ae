"""What goes wrong on a cluster, done to a real SLURM of three nodes on this machine: `python -m bench.slurm_faults`.

As root. A sweep (of bench/slurm_trial.py) is struck while its first rows are measured. Then the same plain command goes
on until it ends with 0. Each stage must have exactly one result, and every comparison one node.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.slurm_trial import NODES, PATIENCE, SUBJECTS, Subject, Trial
from scripts import slurm_cluster
from scripts.slurm_cluster import Cluster

DISK = "600m"  # that all nodes see
LATE, STALE = 5, 3000  # seconds; one of so many calls
RUNS = 5  # at most

# What is done, while the run goes on.


def nothing(trial: Trial, process: subprocess.Popen[str]) -> None:
    """To compare with; it also makes the builds."""
    process.wait(3 * PATIENCE)


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


def job_is_requeued(trial: Trial, process: subprocess.Popen[str]) -> None:
    trial.cluster.ask("scontrol", "requeue", trial.measuring())


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


def node_is_another(trial: Trial, process: subprocess.Popen[str]) -> None:
    """A node with a quarter of the memory (`_before`), which the site file no longer names after the first run."""
    process.wait(PATIENCE)
    trial.nodes = [name for name in NODES if name != "n2"]


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


def handles_are_stale(trial: Trial, process: subprocess.Popen[str]) -> None:
    """Likewise."""


Fault = Callable[[Trial, subprocess.Popen[str]], None]
FAULTS: Mapping[str, Fault] = {
    "nothing": nothing,
    "a node dies, and comes back after 20 s": node_dies,
    "a job is cancelled (scancel)": job_is_cancelled,
    "a job is killed (scancel -s KILL)": job_is_killed,
    "a job is preempted and requeued": job_is_preempted,
    "a job is requeued (scontrol requeue)": job_is_requeued,
    "slurmctld is killed, and starts after 15 s": controller_restarts,
    "Snakemake is killed, its jobs go on": snakemake_is_killed,
    "Ctrl-C": ctrl_c,
    "a node has a quarter of the memory": node_is_another,
    "the shared disk fills": disk_fills,
    f"names that nodes make are seen {LATE} s late": names_are_late,
    f"one of {STALE} reads of the shared disk finds a stale handle": handles_are_stale,
}


def _environment(fault: Fault, top: Path, folder: Path) -> Mapping[str, str]:
    """What a node makes is seen late where the run was started; handles are stale everywhere."""
    below = str(folder / "outputs")
    if fault is names_are_late:
        (own := top / "late_names.own").write_bytes(bytes(1 << 20))
        return {**_preload("late_names", top), "LATE_OWN": str(own), "LATE_BELOW": below, "LATE_SECONDS": str(LATE)}
    if fault is handles_are_stale:
        return {**_preload("stale_handles", top), "STALE_BELOW": below, "STALE_ONE_OF": str(STALE)}
    return {}


def _preload(name: str, top: Path) -> dict[str, str]:
    source, made = Path(__file__).with_name(f"{name}.c"), top / f"{name}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-w", "-o", str(made), str(source), "-ldl"], check=True)
    return {"LD_PRELOAD": str(made)}


def _restart_with_memory(cluster: Cluster, name: str, part: float) -> None:
    """What the node says that it has, from its start on."""
    first, *others = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    total = f"MemTotal: {int(int(first.split()[1]) * part)} kB"
    (cluster.folder / f"meminfo.{name}").write_text("\n".join([total, *others]) + "\n", encoding="utf-8")
    cluster.kill(name)
    cluster.start_node(name)
    time.sleep(5)  # until slurmctld has heard that it went
    cluster.until_idle()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--spec", choices=tuple(SUBJECTS), default="small")
    parser.add_argument("--only", nargs="*", default=[""], help="faults that have one of these in their name")
    parser.add_argument("--screens", action="store_true", help="print what each run said")
    args = parser.parse_args()
    if reason := slurm_cluster.lacking() or slurm_cluster.lacking_plugin():
        print(reason, file=sys.stderr)
        return 1
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell starts it in the background
    with tempfile.TemporaryDirectory() as top:
        (shared := Path(top, "shared")).mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(shared)], check=True)
        cluster = Cluster(Path(top, "cluster"))
        try:
            cluster.up()
            print("| fault | statuses of the runs | seconds | results | wrong |\n|---|---|---|---|---|", flush=True)
            for name in (name for name in FAULTS if any(part in name for part in args.only)):
                print(_row(cluster, Path(top), name, SUBJECTS[args.spec], args.screens), flush=True)
        finally:
            cluster.down()
            subprocess.run(["umount", "--lazy", str(shared)], check=False)
    return 0


def _row(cluster: Cluster, top: Path, name: str, subject: Subject, screens: bool) -> str:
    folder, fault = top / "shared" / "checkout", FAULTS[name]
    folder.mkdir(exist_ok=True)
    if fault is node_is_another:
        _restart_with_memory(cluster, "n2", 0.25)
    trial, began = Trial(cluster, folder, subject, _environment(fault, top, folder)), time.monotonic()
    process = trial.start()
    fault(trial, process)
    trial.end(process)
    while trial.runs[-1][0] != 0 and len(trial.runs) < RUNS:
        trial.end(trial.start())
    took = time.monotonic() - began
    if screens:
        _show(name, trial.runs)
    statuses = ", ".join("killed" if (status or 0) < 0 else str(status) for status, _ in trial.runs)
    row = [name, statuses, f"{took:.0f}", str(sum(map(len, trial.results().values()))), "; ".join(trial.faults())]
    trial.clear()
    if fault is node_is_another:
        _restart_with_memory(cluster, "n2", 1)
    return f"| {' | '.join(row)} |"


def _show(name: str, runs: Sequence[tuple[int | None, str]]) -> None:
    for status, said in runs:
        print(f"--- {name}: {status}\n{said}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
