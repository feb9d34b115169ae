"""A sweep on the SLURM of this machine, which bench/slurm_faults.py strikes: what it is, how it runs, what it left."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from scripts.slurm_cluster import Cluster
from stepgrid.model.plan import Plan
from stepgrid.plan import plan_file

ROOT = Path(__file__).resolve().parents[1]
SMALL = """\
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
PATIENCE = 400.0  # seconds
NODES = ("n1", "n2", "n3")


@dataclass(frozen=True, slots=True)
class Subject:
    """A spec, shrunk so that it takes minutes; `step` is one of those that are measured after the checkpoint."""

    spec: str
    words: Sequence[str]
    step: str


def _set(*values: str) -> list[str]:
    return [word for value in values for word in ("--set", value)]


_SHORT = ("params.keys=100k", "params.duration=1s", "params.timeout=5s")
_PACKAGES = (  # instead of compiled releases: seconds, and no network but the packages'
    "builds.rocksdb={engine: rocksdb, versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, "
    "suite: [{when: \"version < '8'\", value: bookworm}, {value: trixie}]}}",
    "report.base.build=rocksdb-7.8.3",
    "report.tables=[{title: relative QPS, layout: relative, where: {step: [revrangeww, fwdrangeww, readww]}}]",
    "claims=null",
)
SUBJECTS: Mapping[str, Subject] = {
    "small": Subject("a.yaml", (), "go"),
    "quickstart": Subject(
        str(ROOT / "specs/quickstart.yaml"),
        ["--only", "cached == 'all'", *_set("repeat=3", "params.keys=100k", "params.duration=2s")],
        "readww",
    ),
    "hyperclock": Subject(
        str(ROOT / "specs/posts/2024-11-rocksdb-hyperclock-v2.yaml"),
        ["--scale", "smoke", *_set("repeat=3", *_SHORT, *_PACKAGES)],
        "fwdrangeww",
    ),
}


@dataclass(slots=True)
class Trial:
    cluster: Cluster
    folder: Path  # the checkout that all nodes see
    subject: Subject
    more: Mapping[str, str] = field(default_factory=dict)  # environment of the run
    nodes: Sequence[str] = NODES
    runs: list[tuple[int | None, str]] = field(default_factory=list)

    def start(self) -> subprocess.Popen[str]:
        (self.folder / "a.yaml").write_text(SMALL, encoding="utf-8")
        machines = f"slurm: {{machines: {{here: {{nodes: [{', '.join(self.nodes)}]}}}}}}"
        (self.folder / "site.yaml").write_text(f"data: {self.cluster.disk}\n{machines}\n", encoding="utf-8")
        env = {**self.cluster.run_environment, **self.more}
        argv = [sys.executable, "-m", "stepgrid.cli", "run", self.subject.spec, "--on", "slurm", *self.subject.words]
        with self._screen().open("w") as screen:
            return subprocess.Popen(argv, cwd=self.folder, env=env, text=True, stdout=screen, stderr=screen)

    def _screen(self) -> Path:
        """Beside the checkout, which may be full."""
        return self.cluster.folder / "log" / f"screen.{len(self.runs)}"

    def end(self, process: subprocess.Popen[str]) -> None:
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            status = None
        self.runs.append((status, self._screen().read_text(encoding="utf-8")))

    def clear(self) -> None:
        """The next trial begins with the builds of this one, and with nothing else."""
        for job in self.cluster.ask("squeue", "--noheader", "--format=%i").split():
            with suppress(RuntimeError):  # it ended by itself
                self.cluster.ask("scancel", "--signal=KILL", "--full", job)
                self.cluster.ask("scancel", job)
        end = time.monotonic() + PATIENCE
        while self.cluster.ask("squeue", "--noheader", "--format=%i").split() and time.monotonic() < end:
            time.sleep(0.5)
        kept = [self.folder / "outputs" / "builds"]
        for path in (*self.folder.glob("outputs/*"), self.folder / ".snakemake"):
            if path not in kept:
                shutil.rmtree(path, ignore_errors=True)
        for disk in (self.cluster.folder / "disks").glob("*/*"):
            shutil.rmtree(disk, ignore_errors=True)

    def measuring(self, node: str = "") -> str:
        """The SLURM job that measures a row, and where; waits until one does."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            begun = [_node(path) for path in self._attempts() if self._measures(path.parent)]
            lines = self.cluster.ask("squeue", "--noheader", "--states=RUNNING", "--format=%i %N").splitlines()
            for line in lines:
                job, at = line.split()
                if at in begun and node in ("", at):
                    return job
            time.sleep(0.2)
        raise RuntimeError("nothing was measured")

    def _attempts(self) -> Iterator[Path]:
        yield from self.folder.glob("outputs/attempts/s-*/*/attempt.json")

    def _measures(self, attempt: Path) -> bool:
        journal = attempt / "journal.jsonl"
        with suppress(OSError):  # it was published in between
            return not (attempt / "failure.json").exists() and f'"{self.subject.step}"' in journal.read_text()
        return False

    def results(self) -> Mapping[str, list[str]]:
        """Stage -> the nodes of its results."""
        found = defaultdict[str, list[str]](list)
        for path in self.folder.glob("outputs/results/s-*/*/attempt.json"):
            found[path.parts[-3]].append(_node(path))
        return found

    @property
    def plan(self) -> Plan:
        return plan_file.read(next(self.folder.glob("outputs/plans/*/plan.jsonl")).parent)

    def faults(self) -> list[str]:
        """What must not be there."""
        found, stages = self.results(), self.plan.stages
        many = [nodes for nodes in found.values() if len(nodes) > 1]
        said = [f"{len(found)} of {len(stages)} stages"] if len(found) != len(stages) else []
        said += [f"{len(many)} measured twice"] if many else []
        divided = sum(len({node for stage in stages for node in found[stage]}) > 1 for stages in self._rows().values())
        return said + ([f"{divided} comparisons on two nodes"] if divided else [])

    def _rows(self) -> Mapping[int, list[str]]:
        found = defaultdict[int, list[str]](list)
        for stage in self.plan.stages:
            if stage.parent is not None:
                found[stage.load].append(stage.id)
        return found


def _node(record: Path) -> str:
    with suppress(OSError, ValueError):  # its attempt was published in between
        return str(json.loads(record.read_text(encoding="utf-8")).get("cluster_node"))
    return ""
