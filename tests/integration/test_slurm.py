"""A real SLURM of three nodes on this machine: each comparison on one node, and nothing measured twice.

As root, with Debian's SLURM and `make slurm`; else skipped with the reason."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts import slurm_cluster
from scripts.slurm_cluster import Cluster
from stepgrid.plan import plan_file
from stepgrid.store.store import Store
from tests import waiting

SPEC = """\
title: three nodes
hardware: {hardware}
builds: {{sh: {{engine: program, version: "1.0", source: {{system: sh}}, flags: {{programs: sh}}}}}}
steps:
  - {{name: load, kind: command, argv: [sh, -c, "echo loaded > {{data}}/f"], measured: false, mutates: true}}
  - checkpoint: there
  - {{name: go, kind: command, argv: [sh, -c, "sleep {{{{ params.pause }}}}; cat {{data}}/f # {{{{ params.cache }}}}"]}}
params: {{cache: a, pause: {pause}}}
sweep: {{cache: {{param: cache, values: [a, b], from: there}}}}
repeat: {repeat}
report: {{base: {{cache: a}}}}
"""


@dataclass(frozen=True, slots=True)
class Checkout:
    folder: Path
    cluster: Cluster

    def write(self, hardware="here", pause=0.1, nodes="[n1, n2, n3]", repeat=3):
        (self.folder / "a.yaml").write_text(SPEC.format(hardware=hardware, pause=pause, repeat=repeat))
        machines = f"{{here: {{nodes: {nodes}}}, big: {{nodes: [n1]}}}}"
        (self.folder / "site.yaml").write_text(f"data: {self.cluster.disk}\nslurm: {{machines: {machines}}}\n")

    def start(self):
        argv = [sys.executable, "-m", "stepgrid.cli", "run", "a.yaml", "--on", "slurm"]
        pipe = subprocess.PIPE
        env, screen = self.cluster.run_environment, subprocess.STDOUT
        return subprocess.Popen(argv, cwd=self.folder, env=env, text=True, stdout=pipe, stderr=screen)

    def run(self):
        process = self.start()
        said = process.communicate(timeout=waiting.LONG)[0]
        return process.returncode, said

    @property
    def store(self):
        return Store(self.folder / "outputs")

    @property
    def plan(self):
        return plan_file.read(next(self.store.root.glob("plans/*/plan.jsonl")).parent)

    def records(self, kind):
        """stage/time -> attempt.json, of results or attempts."""
        found = (self.store.root / kind).glob("s-*/*/attempt.json")
        return {f"{path.parent.parent.name}/{path.parent.name}": json.loads(path.read_text()) for path in found}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if reason := slurm_cluster.lacking() or slurm_cluster.lacking_plugin():
        pytest.skip(reason)
    found = Cluster(tmp_path_factory.mktemp("slurm"))
    try:
        found.up()
        yield found
    finally:
        found.down()


@pytest.fixture
def checkout(cluster, tmp_path):
    found = Checkout(tmp_path, cluster)
    found.write()
    return found


def test_each_load_with_all_that_is_compared_in_it_is_measured_on_one_node(checkout):
    status, said = checkout.run()
    assert status == 0, said
    by_load = defaultdict[int, set[str]](set)
    for stage, record in checkout.records("results").items():
        by_load[_load(checkout, stage.partition("/")[0])].add(record["cluster_node"])
    assert sorted(by_load.values(), key=sorted) == [{"n1"}, {"n2"}, {"n3"}]
    assert len(checkout.records("results")) == 9
    assert checkout.records("attempts") == {}
    assert "another host" not in said
    assert "a.yaml" in checkout.run()[1], "nothing is left to do"


def _load(checkout, stage):
    return next(each.load for each in checkout.plan.stages if each.id == stage)


def test_a_job_that_outlives_snakemake_is_not_measured_again(checkout):
    checkout.write(pause=4)
    first = checkout.start()
    end = time.monotonic() + waiting.LONG
    while not checkout.cluster.ask("squeue", "--noheader", "--states=RUNNING", "--format=%N").split():
        assert time.monotonic() < end
        time.sleep(0.2)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    status, said = checkout.run()
    assert status == 0, said
    stages = [name.partition("/")[0] for name in checkout.records("results")]
    assert len(stages) == len(set(stages)) == 9
    assert checkout.records("attempts") == {}


def test_a_node_that_is_not_what_the_spec_says(checkout):
    checkout.write(hardware="{id: big, cores: 4096}", repeat=1)
    status, said = checkout.run()
    assert status == 3
    assert "this is not the hardware of the spec: cores: the spec says 4096, this host has " in said
    assert checkout.records("results") == {}


def test_a_machine_without_nodes_is_refused_before_anything_starts(checkout):
    checkout.write(hardware="{id: small, cores: 1}")
    assert checkout.run() == (
        3,
        "nothing was started: the site file names no nodes for the hardware of the spec: `small`; "
        "add `slurm: {machines: {small: {nodes: […]}}}` to it\n",
    )


def test_a_node_that_slurm_does_not_have(checkout):
    checkout.write(nodes="[n1, n9]")
    status, said = checkout.run()
    assert (status, said.splitlines()[-1]) == (3, "nothing was started: SLURM has no node `n9`")


AXIS = """\
title: two machines
builds: {sh: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
steps: [{name: go, kind: command, argv: [sh, -c, "true"]}]
sweep: {machine: {one: {hardware: {id: one}}, two: {hardware: {id: two}}, far: {hardware: {id: far}}}}
repeat: 2
report: {base: {machine: one}}
"""


def test_an_axis_of_hardware_measures_each_point_on_its_own_machine(checkout):
    checkout.write()
    (checkout.folder / "a.yaml").write_text(AXIS)
    machines = "{one: {nodes: [n1]}, two: {nodes: [n2, n3]}}"
    (checkout.folder / "site.yaml").write_text(f"data: {checkout.cluster.disk}\nslurm: {{machines: {machines}}}\n")
    status, said = checkout.run()
    assert status == 0, said
    assert "measured here: 4 stages, 2 stages elsewhere (needs far)" in said
    hardware = {stage.id: stage.hardware for stage in checkout.plan.stages}
    nodes = defaultdict[str, set[str]](set)
    for stage, record in checkout.records("results").items():
        nodes[hardware[stage.partition("/")[0]]].add(record["cluster_node"])
    assert nodes == {"one": {"n1"}, "two": {"n2", "n3"}}
