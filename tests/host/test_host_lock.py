import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.host.locks import HOST_LOCK_OVERRIDE, host_lock, host_lock_path, user_folder
from tests.waiting import LONG

HOLD = "import sys; from stepgrid.host.locks import host_lock\nwith host_lock(False): print('x', flush=True); input()"


@pytest.fixture
def lock(tmp_path, monkeypatch):
    monkeypatch.setenv(HOST_LOCK_OVERRIDE, str(tmp_path / "lock"))
    return tmp_path / "lock"


def test_builds_share_it(lock, capsys):
    with host_lock(shared=True), host_lock(shared=True):
        pass
    assert capsys.readouterr().err == ""


def test_every_user_may_lock_it_whatever_the_umask(lock):
    old = os.umask(0o077)
    try:
        with host_lock(shared=True):
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


def test_one_file_for_the_host_where_it_has_a_folder_for_that(monkeypatch):
    monkeypatch.delenv(HOST_LOCK_OVERRIDE, raising=False)
    shared = Path("/run/lock")
    there = shared.is_dir() and shared.stat().st_mode & stat.S_IWOTH
    assert host_lock_path() == (shared if there else user_folder()) / "stepgrid.host.lock"


def test_else_each_user_has_one(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert user_folder() == tmp_path
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "gone"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_folder() == tmp_path / ".cache" / "stepgrid"
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    assert user_folder() == Path(f"/tmp/stepgrid-{os.getuid()}")
