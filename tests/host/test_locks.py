"""Locks of files and of the host, and who holds them."""

import fcntl
import getpass
import multiprocessing
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.host import locks
from stepgrid.model.records import HostUse
from tests.waiting import LONG


def test_a_lock_excludes_and_names_its_holder(tmp_path):
    path = tmp_path / "locks" / "run"
    with locks.locked(path):
        assert locks.lock_holders(path) == [os.getpid()]
        with pytest.raises(locks.LockBusy) as busy, locks.locked(path, wait=False):
            pass
        assert busy.value.holders == [os.getpid()]
    assert locks.lock_holders(path) == []
    with locks.locked(path, wait=False):
        pass


def test_shared_locks_exclude_exclusive_ones_only(tmp_path):
    path = tmp_path / "lock"
    both = locks.locked(path, shared=True), locks.locked(path, shared=True, wait=False)
    with both[0], both[1], pytest.raises(locks.LockBusy), locks.locked(path, wait=False):
        pass


def test_a_removed_file_protects_nothing_so_its_successor_is_locked(tmp_path):
    path = tmp_path / "lock"

    def replaced(_):
        path.unlink()
        path.touch()
        first.close()

    first = path.open("w")
    fcntl.flock(first, fcntl.LOCK_EX)
    with locks.locked(path, waiting=replaced), pytest.raises(locks.LockBusy), locks.locked(path, wait=False):
        pass


@pytest.mark.parametrize(
    ("make", "said"),
    [(lambda path: path.symlink_to(path.with_name("other")), "a symbolic link"), (os.mkfifo, "no regular file")],
)
def test_what_is_in_its_place_is_not_followed_or_waited_for(tmp_path, make, said):
    make(tmp_path / "lock")
    said = f"the lock file `{tmp_path}/lock` is {said} of user {getpass.getuser()}: remove it"
    with pytest.raises(locks.LockFileError, match=f"^{re.escape(said)}$"), locks.locked(tmp_path / "lock"):
        pass
    assert not (tmp_path / "other").exists()


def _add(path, counter, times):
    for _ in range(times):
        with locks.locked(path):
            counter.write_text(str(int(counter.read_text()) + 1))


def test_nothing_is_lost_between_processes(tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_add, args=(tmp_path / "lock", counter, 50)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert counter.read_text() == "200"


def test_a_job_is_told_by_what_it_does_and_where(tmp_path):
    code = "import sys; print(flush=True); sys.stdin.read()"
    argv = [sys.executable, "-c", code, "stepgrid.pipeline", "run-stage", "p", "s-load\x1b[2J" + "x" * 999]
    with subprocess.Popen(argv, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        job.stdout.readline()
        said = locks.describe_processes([job.pid])
        job.stdin.close()
    assert said == f"process {job.pid}, which measures s-load\\u001b[2J{'x' * 65} in {tmp_path}"


HOLD = "import sys; from stepgrid.host.locks import host_lock\nwith host_lock(False): print('x', flush=True); input()"


@pytest.fixture
def lock(tmp_path, monkeypatch):
    monkeypatch.setenv(locks.HOST_LOCK_OVERRIDE, str(tmp_path / "lock"))
    return tmp_path / "lock"


def test_every_user_may_lock_it_whatever_the_umask(lock):
    old = os.umask(0o077)
    try:
        with locks.host_lock(shared=True):
            assert stat.S_IMODE(lock.stat().st_mode) == 0o666
    finally:
        os.umask(old)


def test_who_waits_is_told_for_whom(lock, capfd):
    root = str(Path(__file__).resolve().parents[2] / "compiler")
    argv = [sys.executable, "-c", HOLD]
    env = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as holder:
        assert holder.stdout.readline() == "x\n"
        code = "from stepgrid.host.locks import host_lock\nwith host_lock(True): print('in')"
        waiter = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )
        line = waiter.stderr.readline()
        assert line.startswith(f"waiting for the host: process {holder.pid} ({sys.executable} -c import sys")
        assert re.search(r"\), running for \d+s\n$", line)
        holder.stdin.close()
        assert waiter.communicate(timeout=LONG)[0] == "in\n"


def test_else_each_user_has_one(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert locks.user_folder() == tmp_path
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "gone"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert locks.user_folder() == tmp_path / ".cache" / "stepgrid"
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    assert locks.user_folder() == Path(f"/tmp/stepgrid-{os.getuid()}")


@pytest.mark.parametrize("text", ["a thesis\n", '{"pid": 1', "[1]", '{"pid": 1, "began": 1.0}' + " " * 5000, ""])
def test_a_file_of_somebody_s_is_not_written_to(lock, text):
    lock.write_text(text)
    if not text:
        lock.with_name("thesis").hardlink_to(lock)
    said = f"`{lock}` is (a|another) file .*: name another file by {locks.HOST_LOCK_OVERRIDE}"
    use = HostUse(pid=os.getpid(), began=1.0)
    with pytest.raises(locks.LockFileError, match=said), locks.host_lock(shared=False, estimate=lambda: use):
        pass
    assert lock.read_text() == text


@pytest.mark.parametrize(
    "text", ["", "{", '{"pid": 1}', "x" * 100_000, '{"pid": PID, "began": -1}', '{"pid": PID, "began": 1e300}',
             '{"pid": PID, "began": 1.0, "seconds": 1e12}', '{"pid": PID, "began": 1.0, "seconds": "7"}',
             '{"pid": 1, "began": 1.0, "seconds": 7}'],
)  # fmt: skip
def test_what_cannot_be_said_in_a_lock_file_is_not_said(lock, text):
    with locks.host_lock(shared=False):
        lock.write_text(text.replace("PID", str(os.getpid())))
        wait = locks.host_wait(locks.HeldLock())
    assert (wait.seconds, re.search(r", running for \S+$", wait.text) is None) == (None, False)
