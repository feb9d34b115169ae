"""What jobs ask of SLURM, by what `sinfo` says: here a script, in tests/integration/test_slurm.py a real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stepgrid.host import cluster_job
from stepgrid.host.files import write_json
from stepgrid.model.plan import Plan
from stepgrid.model.site import JobRequest, Slurm
from stepgrid.store.store import Store
from stepgrid.workflow.cluster.job_resources import JobResources
from stepgrid.workflow.cluster.nodes import ClusterError, nodes
from stepgrid.workflow.remaining_work import RemainingWork, work
from stepgrid.workflow.run_request import Fault
from tests.run import finished

SPEC = """\
title: t
hardware: {hardware}
builds: {{sh: {{engine: program, version: "1.0", source: {{system: sh}}, flags: {{programs: sh}}}}}}
steps:
  - {{name: load, kind: command, argv: [sh, -c, "true"], duration: 10m, measured: false, mutates: true}}
  - checkpoint: there
  - {{name: go, kind: command, argv: [sh, -c, "echo {{{{ params.cache }}}}"], duration: 5m}}
params: {{cache: a}}
sweep: {{cache: {{param: cache, values: [a, b], from: there}}}}
repeat: 2
report: {{base: {{cache: a}}}}
"""
SINFO = """\
#!/bin/sh
echo "$@" >> {folder}/asked
cat <<END
n1|idle|32|64000|nvme,big
n2|mix|16|32000|big
n3|down*|32|64000|nvme
n1|idle|32|64000|nvme,big
END
"""


@pytest.fixture(autouse=True)
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (folder := tmp_path / "bin").mkdir()
    (folder / "sinfo").write_text(SINFO.format(folder=tmp_path))
    (folder / "sinfo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def plan(compile_text: Callable[..., Plan]) -> Plan:
    return compile_text(SPEC.format(hardware="{id: dell32}"))


@pytest.fixture
def left(plan: Plan, tmp_path: Path) -> RemainingWork:
    return work(plan, Store(tmp_path / "outputs"))


def asked(jobs: JobResources, title: str) -> Mapping[str, Any]:
    stage = next(each.id for each in jobs.work.plan.stages if each.title == title)
    wildcards = SimpleNamespace(stage=jobs.work.names[stage])
    found = {name: value(wildcards) for name, value in jobs.of_stages.items() if callable(value)}
    return {name: value for name, value in found.items() if value is not None}


def slurm(**more: Any) -> Slurm:
    return Slurm({"dell32": JobRequest(**more)})


def test_a_measured_stage_has_a_node_of_its_own_and_all_of_it(left: RemainingWork) -> None:
    jobs = JobResources(left, slurm(nodes=("n1", "n2"), partition="bench", qos="high")).checked()
    found = {asked(jobs, f"sh, load {load}: load")["slurm_extra"]: load for load in (1, 2)}
    assert {*found} == {"--exclusive --nodelist=n1", "--exclusive --nodelist=n2"}
    assert asked(jobs, f"sh cache=a, load {found['--exclusive --nodelist=n2']}: go") == {
        "slurm_partition": "bench",
        "qos": "high",
        "mem_mb": 32000,
        "cpus_per_task": 16,
        "slurm_extra": "--exclusive --nodelist=n2",
        "runtime": 2 * (10 + 5) + 30,
    }


def test_names_of_jobs_can_be_handed_to_another_machine(left: RemainingWork) -> None:
    """Snakemake divides `--target-jobs run:stage=NAME` at commas."""
    names = {left.names[stage.id] for stage in left.plan.stages}
    assert names == {"sh_load_1_load", "sh_load_2_load", *(f"sh_cache_{c}_load_{n}_go" for c in "ab" for n in (1, 2))}


def test_a_build_has_half_of_the_smallest_node_or_what_is_said(left: RemainingWork) -> None:
    machines = slurm(nodes=("n1",)).machines
    assert JobResources(left, Slurm(machines)).of_builds == {"cpus_per_task": 8, "mem_mb": 16000}
    request = JobRequest(partition="build", cpus=4, memory=8 << 30, time_limit=7200.0)
    assert JobResources(left, Slurm(machines, request)).of_builds == {
        "slurm_partition": "build",
        "cpus_per_task": 4,
        "mem_mb": 8192,
        "runtime": 120,
    }


def test_the_time_limit_and_the_memory_of_the_site_file(left: RemainingWork) -> None:
    jobs = JobResources(left, slurm(nodes=("n1",), time_limit=1200.0, memory=60 << 30, constraint="nvme"))
    found = asked(jobs, "sh, load 1: load")
    assert (found["runtime"], found["mem_mb"], found["constraint"]) == (20, 61440, "nvme")


def test_a_node_that_is_down_gets_nothing_new(left: RemainingWork) -> None:
    jobs = JobResources(left, slurm())
    assert {node.name for node in jobs.nodes.values()} == {"n1", "n2"}
    assert list(jobs.waiting) == []


def test_what_was_begun_on_a_node_that_is_down_waits_for_it(left: RemainingWork, plan: Plan) -> None:
    first = next(stage for stage in plan.stages if stage.title == "sh cache=a, load 1: go")
    for stage in (first, next(stage for stage in plan.stages if stage.id == first.parent)):
        finished.result(left.store, stage)
        folder = left.store.results(stage.id)[-1]
        write_json(folder / "attempt.json", {"hostname": "n3.lab.example"})
    jobs = JobResources(work(plan, left.store), slurm())
    assert list(jobs.waiting) == [
        "n3 is down*: 1 stage will wait for it, since what they are compared with was measured there; "
        "without it in the site file's `nodes` they go to another"
    ]
    gone = JobResources(work(plan, left.store), slurm(nodes=("n1", "n2")))
    assert {node.name for node in gone.nodes.values()} <= {"n1", "n2"}
    assert list(gone.waiting) == []


def test_a_feature_is_looked_for_and_each_node_is_there_once(cluster: Path) -> None:
    assert [node.name for node in nodes(JobRequest(constraint="nvme", partition="bench"))] == ["n1", "n3"]
    assert [node.name for node in nodes(JobRequest(nodes=("n2", "n1"), constraint="nvme|big"))] == ["n2", "n1"]
    first, second = (cluster / "asked").read_text().splitlines()
    assert first.endswith("--partition=bench")
    assert second.endswith("--nodes=n2,n1")


def test_nodes_that_are_not_there() -> None:
    with pytest.raises(Fault, match=r"^nothing was started: SLURM has no node `n8`, `n9` in the partition `bench`$"):
        nodes(JobRequest(nodes=("n1", "n8", "n9"), partition="bench"))
    with pytest.raises(ClusterError, match=r"no node for what the site file asks for: --partition=bench$"):
        nodes(JobRequest(partition="bench", constraint="gpu"))


def test_a_controller_that_does_not_answer(cluster: Path) -> None:
    (cluster / "bin" / "sinfo").write_text("#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n")
    with pytest.raises(ClusterError) as caught:
        nodes(JobRequest())
    assert (str(caught.value), caught.value.status) == (
        "nothing was started: `sinfo` exited with status 1: Unable to contact slurm controller",
        3,
    )


def test_without_slurms_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=r"there is no `sinfo` on PATH: start it where SLURM's commands are$"):
        nodes(JobRequest())


def test_where_jobs_run_here_they_ask_for_nothing(left: RemainingWork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cluster_job.ON)
    jobs = JobResources(left, slurm()).checked()
    assert (jobs.of_builds, jobs.of_stages, list(jobs.waiting)) == ({}, {}, [])
    assert not Path("asked").exists()


def test_a_job_gives_its_step_all_that_it_has(left: RemainingWork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CPUS_ON_NODE", "32")
    jobs = JobResources(left, slurm(), inside=True).checked()
    assert (jobs.of_builds, jobs.of_stages) == ({"cpus_per_task": 32}, {"cpus_per_task": 32})
    assert not Path("asked").exists()
