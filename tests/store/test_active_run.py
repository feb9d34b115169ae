"""The lock of a run, and disk space in reserve."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from stepgrid.host import cluster_job
from stepgrid.host.locks import LockBusy, lock_holders
from stepgrid.package import PACKAGE
from stepgrid.store import active_run, attempts, paths
from tests.waiting import until


def test_a_run_excludes_another_and_says_what_it_is(store):
    before = datetime.now(UTC)
    with active_run.hold_run_lock(store, "a.yaml"):
        with pytest.raises(LockBusy) as busy, active_run.hold_run_lock(store, "b.yaml"):
            pass
        found = active_run.active_run_record(store, busy.value.holders)
    assert (found.pid, found.spec) == (os.getpid(), "a.yaml")
    assert before <= found.started <= before + timedelta(minutes=1)
    with active_run.hold_run_lock(store, "b.yaml"):
        assert active_run.read_run_record(store).spec == "b.yaml"


def test_a_record_of_a_run_before_is_not_taken_for_that_of_the_holder(store):
    """Between taking the lock and writing the record: nobody may be told to kill a process that is not ours."""
    with active_run.hold_run_lock(store, "a.yaml"):
        pass
    assert active_run.read_run_record(store).pid == os.getpid()
    assert active_run.active_run_record(store, [1]) is None
    assert active_run.active_run_record(store, [1, os.getpid()]).spec == "a.yaml"


WAITER = """
import sys, time
from stepgrid.store import active_run
from stepgrid.store.store import Store
active_run.enter_queue(Store(sys.argv[1]), sys.argv[2], "p1")
print(flush=True)
time.sleep(600)
"""


@contextmanager
def waiting_run(store, spec):
    words = [sys.executable, "-c", WAITER, str(store.root), spec]
    with subprocess.Popen(words, env={"PYTHONPATH": str(PACKAGE.parent)}, stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        yield child.pid
        child.kill()


def test_runs_have_their_turns_in_the_order_in_which_they_came(store, monkeypatch):
    monkeypatch.setattr(active_run, "POLL", 0.05)
    announced = list[list[str]]()
    with waiting_run(store, "a.yaml") as first:
        active_run.enter_queue(store, "b.yaml", "p2")
        with waiting_run(store, "c.yaml"):
            assert [run.spec for run in active_run.queued_runs(store)] == ["a.yaml", "b.yaml", "c.yaml"]
            with pytest.raises(LockBusy) as busy, active_run.hold_run_lock(store, "b.yaml"):
                pass
            assert busy.value.holders == [first]
            os.kill(first, signal.SIGKILL)
            active_run.await_turn(store, lambda ahead: announced.append([run.spec for run in ahead]))
            assert announced in ([], [["a.yaml"]])
            with active_run.hold_run_lock(store, "b.yaml"):
                assert [run.spec for run in active_run.queued_runs(store)] == ["c.yaml"]
                record = active_run.read_run_record(store)
            assert record
            assert 0 < record.waited < 60
    assert active_run.queued_runs(store) == []


def test_one_that_begins_anew_goes_first_and_one_that_is_silent_goes_last(store):
    with waiting_run(store, "a.yaml"):
        active_run.enter_queue(store, "b.yaml", "p2", as_first=True)
        assert [run.spec for run in active_run.queued_runs(store)] == ["b.yaml", "a.yaml"]
        assert active_run.runs_ahead(store)
        with active_run.hold_run_lock(store, "b.yaml"):
            pass
        for ticket in store.lock("queue").iterdir():
            os.utime(ticket, (0, 0))
        assert active_run.queued_runs(store) == []
        with active_run.hold_run_lock(store, "b.yaml"):
            pass


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "started": "x", "spec": "s"}'])
def test_a_record_that_cannot_be_read_is_none(store, text):
    store.lock("run").parent.mkdir(parents=True)
    store.lock("run").write_text(text)
    assert active_run.read_run_record(store) is None


def test_holders_outside_this_container_have_no_number(store, monkeypatch, tmp_path):
    path = tmp_path / "lock"
    path.touch()
    rows = f"1: FLOCK  ADVISORY  WRITE 0 fe:00:{path.stat().st_ino} 0 EOF\n"
    read = type(path).read_text
    monkeypatch.setattr(
        type(path), "read_text", lambda p, *a, **k: rows if str(p) == "/proc/locks" else read(p, *a, **k)
    )
    assert lock_holders(path) == []


def test_it_is_set_aside_and_released(store):
    active_run.keep_reserve(store)
    path = store.lock(paths.RESERVE)
    assert path.stat().st_blocks * 512 >= path.stat().st_size > 0
    assert path.stat().st_size <= active_run.LARGEST_RESERVE
    before = path.stat().st_ino
    active_run.keep_reserve(store)
    assert path.stat().st_ino == before
    assert active_run.release_reserve(store)
    assert not path.exists()
    assert not active_run.release_reserve(store)


def test_a_nearly_full_disk_gives_none(store, monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 1000, 90, 90, 0, 0, 0, 0, 255)))
    active_run.keep_reserve(store)
    assert not store.lock(paths.RESERVE).exists()


def test_on_a_cluster_the_time_of_the_record_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(attempts, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.delenv(cluster_job.ON, raising=False)
    record = tmp_path / "attempt.json"
    record.touch()
    os.utime(record, (0, 0))
    with attempts.heartbeat(tmp_path):
        time.sleep(0.05)
    assert record.stat().st_mtime == 0, "here the lock says it"
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)
    with attempts.heartbeat(tmp_path):
        until(lambda: record.stat().st_mtime > 0)
