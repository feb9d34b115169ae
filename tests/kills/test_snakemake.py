"""Signals, kills, failures and second runs: nothing is lost, nothing is left behind."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stepgrid.errors import BUSY
from tests.waiting import LONG, SOON, in_time

pytestmark = pytest.mark.integration
OTHERS = (signal.SIGTERM, signal.SIGHUP)


def _alive(session):
    """Command lines of its processes."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append((stat.parent / "cmdline").read_text())
        except OSError:
            continue
    return found


def _sleeps(pid):
    """It has nothing left to print: a signal between two writes would put what is said into one line."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def _slow(checkout, until):
    """A run whose third stage has just begun."""
    checkout.write_spec(seconds=0.1)
    checkout.write_spec("slow.json", seconds=300)
    started = checkout.start(checkout.argv(spec="slow.json"))
    until(lambda: len(checkout.logged("measure")) == 1)
    assert isinstance(started, subprocess.Popen)
    return started


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_snakemake_stops_everything_within_2_s(checkout, until, number):
    running = _slow(checkout, until)
    began = time.monotonic()
    running.send_signal(number)
    assert running.wait(SOON) == 1
    assert in_time(time.monotonic() - began, 2.0)
    assert _alive(running.pid) == []
    assert checkout.log[-1] == f"stopped {checkout.logged('measure')[0]}"
    assert checkout.screen.endswith(
        f"stopped by {number.name}: nothing that was measured is lost, the same command goes on from here\n"
    )
    assert "Traceback" not in checkout.screen
    assert "Error" not in checkout.screen


def test_a_job_that_does_not_listen_is_killed(checkout, until):
    (checkout.folder / "deaf").touch()
    running = _slow(checkout, until)
    began = time.monotonic()
    running.send_signal(signal.SIGTERM)
    running.wait(SOON)
    assert in_time(time.monotonic() - began, 3.0)
    assert _alive(running.pid) == []


def test_a_second_run_that_may_not_wait_is_refused_and_looking_is_not(checkout, until):
    running = _slow(checkout, until)
    second, third = checkout.snakemake("no_wait=true"), checkout.stepgrid_run("spec.json", "--no-wait")
    for refused in (second, third):
        line = refused.stderr.splitlines()[-1]
        assert refused.returncode == BUSY, refused.stderr
        assert line.startswith(f"another run is active in this checkout: pid {running.pid}, slow.json, since ")
        assert line.endswith("; `--no-wait`: nothing was started")
        assert "Traceback" not in refused.stderr
    for look in ("-n", "--summary", "--dag"):
        looked = checkout.snakemake(look, spec="slow.json")
        assert looked.returncode == 0, looked.stderr
        assert "Traceback" not in looked.stderr
    assert _is_dot(looked.stdout)
    assert len(checkout.logged("measure")) == 1
    running.terminate()
    running.wait(SOON)


def test_runs_in_one_checkout_wait_for_their_turn(checkout, until):
    running = _slow(checkout, until)
    checkout.write_spec("third.json", seconds=0.1)
    waiting = "waiting for another run in this checkout: pid {pid}, {spec}, since "
    second = checkout.start(checkout.argv(), "second")
    until(lambda: waiting.format(pid=running.pid, spec="slow.json") in (checkout.folder / "second").read_text())
    impatient = checkout.start(checkout.argv(), "impatient")
    until(lambda: "waiting for 2 runs in this checkout: " in (checkout.folder / "impatient").read_text())
    impatient.send_signal(signal.SIGINT)
    assert impatient.wait(SOON) != 0
    assert "Traceback" not in (checkout.folder / "impatient").read_text()
    third = checkout.start([sys.executable, "stepgrid_run.py", "third.json"], "third")
    both = f"; then pid {second.pid}, spec.json, since "
    until(lambda: both in (checkout.folder / "third").read_text())
    assert len(checkout.logged("measure")) == 1
    running.terminate()
    running.wait(SOON)
    assert [second.wait(LONG), third.wait(LONG)] == [0, 0], (checkout.folder / "third").read_text()
    assert f"pid {second.pid} measures this plan, too" in (checkout.folder / "third").read_text()
    assert "queue" not in str(list((checkout.folder / "outputs" / "locks" / "queue").iterdir()))
    measured = checkout.logged("measure")[1:]
    assert len(measured) == len(set(measured)) > 0


def _is_dot(text):
    lines = [line.strip() for line in text.splitlines()]
    body = [line for line in lines[1:-1] if line]
    return (
        lines[0] == "digraph snakemake_dag {" and lines[-1] == "}" and all(line[-1] in ";,0123456789" for line in body)
    )


def test_after_kill_9_the_checkout_is_free_although_a_job_goes_on(checkout, until):
    """The lock belongs to the main process alone: a job that outlives it does not hold it."""
    (checkout.folder / "deaf").touch()
    running = _slow(checkout, until)
    running.kill()
    running.wait()
    assert _alive(running.pid) != []
    ended = checkout.snakemake()
    os.killpg(running.pid, signal.SIGKILL)
    assert ended.returncode == 0, ended.stderr


def test_a_failed_stage_fails_the_run_and_the_rest_goes_on(checkout):
    (checkout.folder / "fail-s-p-0").touch()
    ended = checkout.snakemake()
    lines = ended.stderr.splitlines()
    assert ended.returncode == 1
    assert len(checkout.logged("measure")) == 10
    assert "p, load 1: fill: the step failed" in lines
    assert checkout.log[-2:] == ["collect --partial", "summarize --partial"]
    assert lines[-6:-4] == [
        "the run is not complete: [9/12 done] 1 failed, 2 blocked",
        "because p, load 1: fill failed",
    ]
    assert lines[-3] == "failed attempts are kept in outputs/attempts; the same command tries them again"
    assert lines[-1].startswith("outputs/summary/")
    assert not any("Error" in line for line in lines)
    (checkout.folder / "fail-s-p-0").unlink()
    checkout.forget_log()
    assert checkout.snakemake().returncode == 0
    assert sorted(checkout.logged("measure")) == ["s-p-0", "s-p-0-a", "s-p-0-b"]
    assert checkout.log[-2:] == ["collect", "summarize"]


def test_a_job_that_is_killed_is_a_failure_with_a_sentence_of_ours(checkout):
    (checkout.folder / "kill-s-p-0").touch()
    ended = checkout.snakemake()
    assert ended.returncode == 1
    said = (
        "failed: p, load 1: fill\n"
        "  the process that ran it was killed (by the kernel when memory runs out, or by someone)\n"
    )
    assert said in ended.stderr
    assert "the run is not complete: [9/12 done] 1 failed, 2 blocked" in ended.stderr.splitlines()
    assert "Error" not in ended.stderr
    assert "Exception" not in ended.stderr


@pytest.mark.parametrize("verb", ["collect", "build"])
@pytest.mark.parametrize("number", [signal.SIGINT, *(pytest.param(each, marks=pytest.mark.nightly) for each in OTHERS)])
def test_ctrl_c_while_tables_or_builds_are_made(checkout, until, number, verb):
    (checkout.folder / f"slow-{verb}").touch()
    running = checkout.start(checkout.argv())
    until(lambda: any(line.startswith(verb) for line in checkout.log))
    os.killpg(running.pid, number)
    assert running.wait(SOON) == 1
    assert _alive(running.pid) == []
    assert "Traceback" not in checkout.screen
    assert checkout.screen.endswith("the same command goes on from here\n")


@pytest.mark.parametrize("way", ["stepgrid", "snakemake"])
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)])
def test_a_signal_before_the_first_job_ends_it_without_a_traceback(checkout, until, way, number):
    """The spec is a pipe that nobody writes to: it is read while the Snakefile, or the command, waits."""
    os.mkfifo(checkout.folder / "pipe.json")
    argv = checkout.argv(spec="pipe.json") if way == "snakemake" else [sys.executable, "stepgrid_run.py", "pipe.json"]
    running = checkout.start(argv)
    until(lambda: "compile_spec" in checkout.screen and _sleeps(running.pid))
    os.killpg(running.pid, number)
    assert running.wait(SOON) == (1 if way == "snakemake" else 3)
    said = [line for line in checkout.screen.splitlines() if not line.startswith(("Using workflow", "compile_spec"))]
    assert said == [f"stopped by {number.name} before anything was started"]


def test_a_reader_who_has_seen_enough_ends_a_dry_run_quietly(checkout):
    argv = shlex.join(checkout.argv("-n"))
    ended = checkout.execute(["sh", "-c", f"{argv} | true"])
    assert ended.returncode == 0
    assert "Traceback" not in ended.stderr
    assert "BrokenPipe" not in ended.stderr


def test_ctrl_c_while_a_partial_summary_is_made(checkout, until):
    (checkout.folder / "fail-s-p-0").touch()
    (checkout.folder / "slow-collect").touch()
    running = checkout.start(checkout.argv())
    until(lambda: "collect --partial" in checkout.log)
    os.killpg(running.pid, signal.SIGINT)
    assert running.wait(SOON) == 1
    assert _alive(running.pid) == []
    assert "Traceback" not in checkout.screen
    assert checkout.screen.endswith("the same command goes on from here\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_ends_early_leaves_no_temporary_folder(checkout, until, number):
    temporary = checkout.folder / "tmp"
    temporary.mkdir()
    (checkout.folder / "slow-build").touch()
    running = checkout.start(["env", f"TMPDIR={temporary}", *checkout.argv()])
    until(lambda: any(line.startswith("build") for line in checkout.log))
    os.killpg(running.pid, number)
    running.wait(SOON)
    until(lambda: [*temporary.iterdir()] == [])
