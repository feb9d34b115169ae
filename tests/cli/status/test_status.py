"""stepgrid status: sweeps that were not started, run, wait, failed, were killed, or are finished, by real jobs."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.host.locks import locked
from stepgrid.model.status import Status
from stepgrid.store.active_run import hold_run_lock
from stepgrid.store.status import StatusReader


def test_before_anything_was_started(folder, golden):
    code, text = folder.status()
    assert code == 0
    golden(text)
    assert not folder.store.root.exists()


def test_while_a_stage_runs(folder, until):
    folder.build()
    folder.run("run-stage", folder.stage("load"))
    folder.start("run-stage", folder.stage("slow"))
    reader = StatusReader(folder.store, folder.plan)
    until(
        lambda: (at := reader.read().nodes_with(Status.RUNNING)) and at[0].work.step and at[0].work.step.name == "read"
    )
    with hold_run_lock(folder.store, "a.yaml"):
        code, text = folder.status()
    assert code == 0
    assert (
        text.partition("\nmissing: ")[0]
        == """\
a.yaml: programs that sleep
  stages   1/4 done, 1 running, 2 missing
  ETA      1m59s (HH:MM)
  builds   1/1 done
  run      pid N, since HH:MM:SS

running: python arm=slow, load 1: warm, read
  read (2 of 2): N/30 s
  since HH:MM:SS, pid N on HOST
""".replace("1m59s", text.partition("ETA ")[2].split()[0])
    )


def test_a_stage_waits_for_the_host_and_it_is_said_for_whom(folder, until):
    folder.build()
    with locked(Path(os.environ["STEPGRID_HOST_LOCK"])):
        folder.start("run-stage", folder.stage("load"))
        until(lambda: folder.store.attempts(folder.stage("load")))
        _, text = folder.status()
    waiting = text.partition("\nwaiting: ")[2].splitlines()[:2]
    assert waiting[0] == "python, load 1: load"
    assert waiting[1].startswith("  for the host: process N (")


def test_a_failed_stage_says_why_and_where_and_the_status_is_3(folder):
    folder.build()
    folder.run("run-stage", folder.stage("load"))
    for _ in range(2):
        folder.run("run-stage", folder.stage("wrong"))
    code, text = folder.status()
    assert code == 3
    assert text.partition("\nfailed: ")[2].splitlines()[:4] == [
        "1",
        "  python arm=wrong, load 1: warm, read",
        "    read: it ended with exit status 1 (HH:MM:SS, tried 2 times)",
        "    log: outputs/attempts/s-ID/WHEN/steps/1-read/stderr",
    ]


def test_what_starts_from_a_failed_stage_is_blocked(folder):
    folder.build()
    shutil.rmtree(folder.store.build(folder.plan.builds[0].id))
    folder.run("run-stage", folder.stage("load"))
    code, text = folder.status()
    assert code == 3
    assert "  stages   0/4 done, 1 failed, 3 blocked (they need what failed)\n" in text
    assert "  python arm=quick, load 1: warm, read\n    the build python is not there (" in text


def test_a_killed_stage_is_told_from_one_that_runs(folder, until):
    folder.build()
    folder.run("run-stage", folder.stage("load"))
    process = folder.start("run-stage", folder.stage("slow"))
    until(lambda: list(folder.store.root.glob("attempts/*/*/steps/1-read")))
    process.send_signal(signal.SIGKILL)
    process.wait()
    code, text = folder.status()
    assert code == 0
    assert (
        text.partition("\ninterrupted: ")[2].partition("\n\n")[0]
        == """\
1
  python arm=slow, load 1: warm, read
    the process that ran it was killed, and could not say so (HH:MM:SS)
    log: outputs/attempts/s-ID/WHEN"""
    )


def test_another_specs_run_is_named(folder):
    folder.build()
    with hold_run_lock(folder.store, "b.yaml"):
        _, text = folder.status()
    assert "  run      pid N, since HH:MM:SS: measures another spec, b.yaml\n" in text


def test_a_failure_of_an_earlier_run_is_tried_again_by_the_one_that_is_active(folder):
    folder.build()
    folder.run("run-stage", folder.stage("load"))
    folder.run("run-stage", folder.stage("wrong"))
    with hold_run_lock(folder.store, "a.yaml", "07:30", 2e9):
        code, text = folder.status("--all")
    assert code == 0
    assert "  until    " in text
    assert text.count(": starts nothing that would end later\n") == 1
    assert "python arm=wrong, load 1: warm, read\n    tried before: read: it ended with exit status 1\n" in text


def test_when_all_is_done_and_a_load_that_lost_its_image(folder):
    folder.build()
    for name in ("load", "quick"):
        folder.run("run-stage", folder.stage(name))
    assert folder.status("--only", "arm == 'quick'") == (
        0,
        """\
a.yaml: programs that sleep
  stages   2/2 done
  builds   1/1 done
  run      none is active
""",
    )
    record = folder.store.records() / folder.plan.builds[0].id
    record.parent.mkdir()
    folder.store.build(record.name).rename(record)  # as where results were imported
    assert "  stages   2/2 done\n  builds   1/1 done\n" in folder.status("--only", "arm == 'quick'")[1]
    assert "  builds   0/1 done, 1 missing\n" in folder.status()[1]
    (folder.store.image(folder.stage("load")) / "data" / "t").write_text("y")
    assert (
        "  replay   python, load 1: load: the image is damaged: t is not what was saved: its checksum differs\n"
    ) in folder.status()[1]
    shutil.rmtree(folder.store.image(folder.stage("load")))
    assert "  replay   1 done before: there is no image of its end state\n" in folder.status()[1]


def test_json_has_it_all(folder):
    folder.build()
    folder.run("run-stage", folder.stage("load"))
    folder.run("run-stage", folder.stage("wrong"))
    folder.capture.readouterr()
    assert main(["status", "a.yaml", "--format", "json"]) == 3
    found = json.loads(folder.capture.readouterr().out)
    assert found["totals"]["stage"] == {
        **dict.fromkeys(("running", "waiting", "interrupted", "blocked", "unsupported", "elsewhere"), 0),
        "done": 1,
        "failed": 1,
        "missing": 2,
    }
    failed = next(node for node in found["nodes"] if node["state"] == "failed")
    assert (failed["end"]["step"], failed["end"]["tries"]) == ("read", 1)
    assert failed["end"]["message"] == "it ended with exit status 1"
    assert found["run"] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_somebody_else_who_may_only_read_sees_the_same(folder):
    folder.build()
    folder.run("run-stage", folder.stage("load"))
    (before, _), there = folder.status(), sorted(folder.store.root.rglob("*"))
    for parent in (folder.path, *folder.path.parents[:-2]):
        parent.chmod(0o755)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        os._exit(main(["status", "a.yaml"]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == before == 0
    assert sorted(folder.store.root.rglob("*")) == there
