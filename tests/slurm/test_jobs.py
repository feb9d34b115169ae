"""A run on a cluster; `sinfo` is a script here, and a real one in tests/integration/test_slurm.py."""

import logging
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from snakemake_logger_plugin_stepgrid import _of_cluster
from stepgrid.host import cluster_job
from stepgrid.host.files import write_json
from stepgrid.model.site import JobRequest, Slurm
from stepgrid.store.store import Store
from stepgrid.workflow.remaining_work import remaining_work
from stepgrid.workflow.run_request import Refusal
from stepgrid_slurm import ClusterError, JobResources, list_nodes, remote_work
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
def environment(monkeypatch):
    """A job sets these in its own environment, which here is that of all tests."""
    for name in (cluster_job.ON, cluster_job.PLAN):
        monkeypatch.setenv(name, "")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (programs := tmp_path / "bin").mkdir()
    (programs / "sinfo").write_text(SINFO.format(folder=tmp_path))
    (programs / "sinfo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def plan(folder, compile_text):
    return compile_text(SPEC.format(hardware="{id: dell32}"))


@pytest.fixture
def left(plan, tmp_path):
    return remaining_work(plan, Store(tmp_path / "outputs"))


def asked(jobs, title):
    stage = next(each.id for each in jobs.work.plan.stages if each.title == title)
    wildcards = SimpleNamespace(stage=jobs.work.names[stage])
    found = {name: value(wildcards) for name, value in jobs.of_stages.items() if callable(value)}
    return {name: value for name, value in found.items() if value is not None}


def slurm(**more):
    return Slurm({"dell32": JobRequest(**more)})


def test_a_measured_stage_has_a_node_of_its_own_and_all_of_it(left):
    jobs = JobResources(left, slurm(nodes=("n1", "n2"), partition="bench", qos="high")).checked()
    found = {asked(jobs, f"sh, load {load}: load")["slurm_extra"]: load for load in (1, 2)}
    assert {*found} == {"--exclusive --nodelist=n1", "--exclusive --nodelist=n2"}
    assert asked(jobs, f"sh cache=a, load {found['--exclusive --nodelist=n2']}: go") == {
        "slurm_partition": "bench",
        "qos": "high",
        "mem_mb": 32000,
        "cpus_per_task": 16,
        "slurm_extra": "--exclusive --nodelist=n2",
        "runtime": 2 * (10 + 5) + 30 + 1,  # with some seconds around their steps
    }


def test_a_build_has_half_of_the_smallest_node_or_what_is_said(left):
    machines = slurm(nodes=("n1",)).machines
    assert JobResources(left, Slurm(machines)).of_builds == {"cpus_per_task": 8, "mem_mb": 16000}
    request = JobRequest(partition="build", cpus=4, memory=8 << 30, time_limit=7200.0)
    assert JobResources(left, Slurm(machines, request)).of_builds == {
        "slurm_partition": "build",
        "cpus_per_task": 4,
        "mem_mb": 8192,
        "runtime": 120,
    }


def test_what_was_begun_on_a_node_that_is_down_waits_for_it(left, plan):
    first = next(stage for stage in plan.stages if stage.title == "sh cache=a, load 1: go")
    for stage in (first, next(stage for stage in plan.stages if stage.id == first.parent)):
        finished.result(left.store, stage)
        folder = left.store.results(stage.id)[-1]
        write_json(folder / "attempt.json", {"hostname": "n3.lab.example"})
    jobs = JobResources(remaining_work(plan, left.store), slurm())
    assert list(jobs.waiting) == [
        "n3 is down*: 1 stage will wait for it, since what they are compared with was measured there; "
        "without it in the site file's `nodes` they go to another"
    ]
    gone = JobResources(remaining_work(plan, left.store), slurm(nodes=("n1", "n2")))
    assert {node.name for node in gone.nodes.values()} <= {"n1", "n2"}
    assert list(gone.waiting) == []


def test_a_feature_is_looked_for_and_each_node_is_there_once(folder):
    assert [node.name for node in list_nodes(JobRequest(constraint="nvme", partition="bench"))] == ["n1", "n3"]
    assert [node.name for node in list_nodes(JobRequest(nodes=("n2", "n1"), constraint="nvme|big"))] == ["n2", "n1"]
    first, second = (folder / "asked").read_text().splitlines()
    assert first.endswith("--partition=bench")
    assert second.endswith("--nodes=n2,n1")


def test_nodes_that_are_not_there(folder):
    with pytest.raises(Refusal, match=r"^nothing was started: SLURM has no node `n8`, `n9` in the partition `bench`$"):
        list_nodes(JobRequest(nodes=("n1", "n8", "n9"), partition="bench"))
    with pytest.raises(ClusterError, match=r"no node for what the site file asks for: --partition=bench$"):
        list_nodes(JobRequest(partition="bench", constraint="gpu"))


def test_a_controller_that_does_not_answer(folder):
    (folder / "bin" / "sinfo").write_text("#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n")
    with pytest.raises(ClusterError) as caught:
        list_nodes(JobRequest())
    assert (str(caught.value), caught.value.status) == (
        "nothing was started: `sinfo` exited with status 1: Unable to contact slurm controller",
        3,
    )


# A job


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    return finished.make(tmp_path / "bin")


def test_the_spec_may_change_while_the_run_goes_on(measured, monkeypatch):
    plan = measured[1]
    monkeypatch.setenv(cluster_job.PLAN, plan.digest)
    Path("spec.yaml").write_text("no spec any more")
    assert remote_work({"spec": "spec.yaml"}).plan == plan


def test_marks_that_the_run_waits_for_are_left_alone(measured, monkeypatch):
    """The lock of the run cannot be seen on another machine."""
    store, plan = measured
    monkeypatch.setenv(cluster_job.PLAN, plan.digest)
    mark = Path(remaining_work(plan, store).mark(plan.stages[0].id))
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.symlink_to(os.path.relpath(store.results(plan.stages[0].id)[0] / "result.json", mark.parent))
    remote_work({"spec": "spec.yaml"})
    assert mark.exists()
    remaining_work(plan, store)
    assert not mark.exists(), "the run that begins removes them"


def test_a_folder_that_is_not_shared(tmp_path, monkeypatch):
    monkeypatch.setenv(cluster_job.PLAN, "0123456789abcdef0123")
    with pytest.raises(
        Refusal, match=r"^this node does not see the plan of the run \(.*: is the folder shared\?$"
    ) as caught:
        remote_work({"spec": "spec.yaml"})
    assert caught.value.status == 3


# The logger


def record(**more):
    found = logging.LogRecord("snakemake", logging.ERROR, "", 0, "Error in rule run, jobid: 3", (), None)
    for name, value in more.items():
        setattr(found, name, value)
    return found


def test_the_name_of_the_stage_the_status_and_the_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = tmp_path / ".snakemake" / "slurm_logs" / "rule_run" / "x" / "7.log"
    said = (
        "SLURM-job '7' failed, SLURM status is: 'NODE_FAIL'. Detailed failure reason unavailable (status command is "
        "not 'sacct').For further error details see the cluster/cloud log and the log files of the involved rule(s)."
    )
    output = ["outputs/marks/p/stages/sh cache=a, load 1: go"]
    assert _of_cluster(record(rule_msg=said, output=output, log=["outputs/marks/p/log/x", str(log)])) == (
        "sh cache=a, load 1: go: SLURM-job '7' failed, SLURM status is: 'NODE_FAIL'; "
        "its log: .snakemake/slurm_logs/rule_run/x/7.log"
    )
