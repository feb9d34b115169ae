"""A SLURM of several nodes on this one machine, in a folder of its own: to test and to try `stepgrid run --on slurm`.

    python -m scripts.slurm_cluster up FOLDER [--nodes 3] [--cpus 2]
    SLURM_CONF=FOLDER/etc/slurm.conf sinfo
    python -m scripts.slurm_cluster down FOLDER

Needs root and Debian's slurmctld, slurmd, slurm-client and munge. Each node has namespaces of its own: a hostname,
numbers of processes, a disk at FOLDER/disk and locks in /run/lock, so that one node sees of another what a real one
would: the shared files. A node dies with the process whose id is in FOLDER/run/NODE.pid. One that starts while there is
a FOLDER/meminfo.NODE has it for its /proc/meminfo.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PROGRAMS = (
    "munged",
    "slurmctld",
    "slurmd",
    "sbatch",
    "srun",
    "squeue",
    "sinfo",
    "scontrol",
    "scancel",
    "unshare",
    "mount",
)
ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / ".venv" / "slurm"  # Snakemake's executor for SLURM, by `make slurm`
PARTITION = "all"
PATIENCE = 60.0  # seconds
CONFIG = """\
ClusterName=onemachine
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,batch_sched_delay=0,sched_min_interval=100000
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=10
InactiveLimit=0
KillWait=5
MinJobAge=300
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
{nodes}
PartitionName={partition} Nodes=ALL Default=YES State=UP PriorityTier=1
PartitionName=urgent Nodes=ALL State=UP PriorityTier=10 PreemptMode=OFF
"""
INSIDE = """\
hostname "$1" && mount --bind "$2/disks/$1" "$2/disk" || exit 1
mount --bind "$2/etc" /etc/slurm || exit 1  # jobs that unset SLURM_CONF find it there
[ ! -e "$2/meminfo.$1" ] || mount --bind "$2/meminfo.$1" /proc/meminfo || exit 1
mount -t tmpfs tmpfs /run/lock && chmod 1777 /run/lock || exit 1
slurmd -D -N "$1" -f "$2/etc/slurm.conf" &
wait $!
"""  # bash, as the first process of the node: it also waits for what others leave behind


@dataclass(frozen=True, slots=True)
class Cluster:
    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "etc" / "slurm.conf"

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "SLURM_CONF": str(self.config)}

    @property
    def run_environment(self) -> dict[str, str]:
        """Of `stepgrid run --on slurm` in a folder with a site.yaml; jobs inherit it."""
        path = f"{ROOT / 'compiler'}{os.pathsep}{PLUGIN}"
        return {**self.environment, "PYTHONPATH": path, "STEPGRID_SITE": "site.yaml"}

    @property
    def disk(self) -> Path:
        """On each node its own."""
        return self.folder / "disk"

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "disks").iterdir())

    def ask(self, *argv: str) -> str:
        done = subprocess.run(argv, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")
        return done.stdout

    def up(self, nodes: int = 3, cpus: int = 2) -> None:
        self._folders([f"n{number + 1}" for number in range(nodes)])
        ports = _free_ports(nodes + 1)
        self.config.write_text(self._config(ports, cpus), encoding="utf-8")
        self.start_munge()
        self.start_controller()
        for name in self.names:
            self.start_node(name)
        self.until_idle()

    def until_idle(self) -> None:
        _until(lambda: self.states() == dict.fromkeys(self.names, "idle"), "all nodes are idle", self.states)

    def down(self) -> None:
        for name in (*self.names, "slurmctld", "munged"):
            self.kill(name)
        with suppress(OSError):
            (self.folder / "munge.socket").unlink()

    def states(self) -> dict[str, str]:
        try:
            lines = self.ask("sinfo", "--Node", "--noheader", f"--partition={PARTITION}", "--format=%N %t").splitlines()
        except RuntimeError:
            return {}
        return dict(line.split() for line in lines)

    def start_munge(self) -> None:
        (key := self.folder / "munge.key").write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        paths = {name: self.folder / f"munge.{name}" for name in ("socket", "pid", "seed")}
        argv = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={paths['socket']}"]
        argv += [
            f"--pid-file={paths['pid']}",
            f"--seed-file={paths['seed']}",
            f"--log-file={self.folder}/log/munged.log",
        ]
        self._start("munged", argv)
        _until(paths["socket"].exists, "munged listens")

    def start_controller(self) -> None:
        self._start("slurmctld", ["slurmctld", "-D", "-f", str(self.config)])
        _until(lambda: bool(self.states()), "slurmctld answers")

    def start_node(self, name: str) -> None:
        unshare = ["unshare", "--uts", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        self._start(name, [*unshare, "bash", "-c", INSIDE, "bash", name, str(self.folder)])

    def kill(self, name: str) -> None:
        """At once, with all that runs on it."""
        file = self.folder / "run" / f"{name}.pid"
        with suppress(OSError, ValueError):
            pid = int(file.read_text())
            for each in (*_children(pid), pid):
                with suppress(OSError):
                    os.kill(each, signal.SIGKILL)
            with suppress(ChildProcessError):  # it may be another process that started it
                os.waitpid(pid, 0)
            _until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid), f"{name} has ended")
            file.unlink()

    def _folders(self, names: list[str]) -> None:
        for part in (
            "etc",
            "state",
            "log",
            "run",
            "disk",
            *(f"disks/{name}" for name in names),
            *(f"spool.{n}" for n in names),
        ):
            (self.folder / part).mkdir(parents=True, exist_ok=True)

    def _config(self, ports: list[int], cpus: int) -> str:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 21  # MiB, half of it
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory={memory}"
            for name, port in zip(self.names, ports[1:], strict=True)
        )
        host = socket.gethostname()
        return CONFIG.format(folder=self.folder, host=host, port=ports[0], nodes=nodes, partition=PARTITION)

    def _start(self, name: str, argv: list[str]) -> None:
        with (self.folder / "log" / f"{name}.out").open("ab") as log:
            started = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment, start_new_session=True
            )
        (self.folder / "run" / f"{name}.pid").write_text(f"{started.pid}\n")


def lacking() -> str:
    """Why there can be no such cluster here, for a test that is skipped; nothing where it can."""
    if os.geteuid():
        return "a SLURM of several nodes on one machine needs root"
    if absent := [name for name in PROGRAMS if shutil.which(name) is None]:
        return f"this machine has no {', '.join(absent)}"
    return ""


def lacking_plugin() -> str:
    """Likewise, for a run of stepgrid on it."""
    there = PLUGIN.is_dir() or find_spec("snakemake_executor_plugin_slurm") is not None
    return "" if there else "Snakemake's plug-in for SLURM is not installed: make slurm"


def _children(pid: int) -> Iterator[int]:
    """Those of a namespace end with its first process."""
    with suppress(OSError):
        yield from map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def _is_zombie(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    return True


def _free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        found = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [each.getsockname()[1] for each in found]


def _until(holds: Callable[[], bool], what: str, seen: Callable[[], object] = str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise RuntimeError(f"timed out after {PATIENCE:.0f} s: {what} {seen()}")
        time.sleep(0.1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.slurm_cluster", description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("up", "down"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--cpus", type=int, default=2, help="that each node says it has")
    args = parser.parse_args()
    cluster = Cluster(args.folder.absolute())
    if reason := lacking():
        print(reason, file=sys.stderr)
        return 1
    if args.what == "down":
        cluster.down()
    else:
        cluster.up(args.nodes, args.cpus)
        print(f"export SLURM_CONF={cluster.config}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
