"""The program as a real process; what stands for db_bench is a script."""

import ctypes
import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace

import pytest

from stepgrid.host import disk
from stepgrid.package import PACKAGE
from stepgrid.plugins.server import IdleReading
from stepgrid_databases.drivers.quiesce import Quiesce
from stepgrid_databases.drivers.quiesce.waiting import SettleRequest

PROGRAM = (sys.executable, "-m", "stepgrid_databases.drivers.quiesce")


def start(folder, script, **given):
    words, data = [sys.executable, "-c", script], folder / "data"
    data.mkdir(exist_ok=True)
    request = {"access": None, "argv": words, "data": data, "server_pid": None, "endless": False}
    asked = {"timeout": 60.0, "quiet": 0.2, "flush": True, "analyze": True}
    (folder / "request.json").write_text(json.dumps({**request, **asked, **given}, default=str))
    return subprocess.Popen(
        PROGRAM,
        cwd=folder,
        env={"PYTHONPATH": str(PACKAGE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_looks_until_the_work_is_done(tmp_path):
    out, err = start(tmp_path, "import time; time.sleep(0.3); print('drained')").communicate(timeout=60)
    lines = [json.loads(line) for line in out.splitlines()]
    assert err == ""
    assert lines[-1]["end"]["quiet"] is True
    assert [line["look"]["idle"] for line in lines[:1]] == [False]
    assert lines[-2]["look"]["idle"] is True
    assert (tmp_path / "drain.stdout").read_text() == "drained\n"


TABLE = """
** Compaction Stats [default] **
Level    Files   Size     Score
-------------------------------
  L0      {files}   1.00 MB   1.0
 Sum      {files}   1.00 MB   0.0
"""
HELD = f"""
import os, sys, time
print(os.getpid(), flush=True)
print({TABLE.format(files="3/3")!r}, file=sys.stderr, flush=True)
time.sleep(0.3)
print({TABLE.format(files="1/0")!r}, file=sys.stderr, flush=True)
time.sleep(600)
"""


def test_one_that_is_held_open_is_looked_at_and_ended(tmp_path):
    out, err = start(tmp_path, HELD, endless=True).communicate(timeout=60)
    looks = [line["look"] for line in map(json.loads, out.splitlines()) if "look" in line]
    seen = [(look["seen"][0]["what"], look["seen"][0]["value"]) for look in looks]
    assert seen[0] == ("db_bench at work", 1)
    assert ("files being compacted", 3) in seen
    assert seen[-1] == ("files being compacted", 0)
    assert (json.loads(out.splitlines()[-1])["end"]["quiet"], err) == (True, "")
    assert not Path("/proc", (tmp_path / "drain.stdout").read_text().strip()).exists()


STRANGER = """
import os, time
with open("stranger", "wb") as file:
    while True:
        file.seek(0)
        file.write(bytes(8 << 20))
        os.fsync(file.fileno())
        time.sleep(0.3)
"""


@contextmanager
def stranger(folder):
    """Write some 25 MiB/s: far more than counts as idle, and no more, as other tests run beside."""
    child = subprocess.Popen([sys.executable, "-c", STRANGER], cwd=folder)
    try:
        yield
    finally:
        child.kill()
        child.wait()


needs_device = pytest.mark.skipif(disk.device(Path(gettempdir())) is None, reason="temporary files are on no device")


@needs_device
def test_io_of_a_stranger_holds_nobody(tmp_path):
    with stranger(tmp_path):
        time.sleep(0.5)
        out, err = start(tmp_path, "pass", timeout=30.0, quiet=1.0).communicate(timeout=60)
    assert (json.loads(out.splitlines()[-1])["end"]["quiet"], err) == (True, "")


@needs_device
def test_io_of_the_engine_is_waited_for(tmp_path):
    writes = f"""
import os, sys, time
print({TABLE.format(files="1/0")!r}, file=sys.stderr, flush=True)
until = time.monotonic() + 2
while True:
    with open("data/log", "wb") as file:
        file.write(bytes(1 << 20))
        os.fsync(file.fileno())
    time.sleep(0.1 if time.monotonic() < until else 60)
"""
    out, _ = start(tmp_path, writes, endless=True, quiet=1.0).communicate(timeout=60)
    *looks, end = map(json.loads, out.splitlines())
    reasons = {thing["what"] for line in looks for thing in line["look"]["seen"] if not thing["idle"]}
    assert "engine writes" in reasons
    assert (end["end"]["quiet"], end["end"]["since"] > 1.5) == (True, True)


def test_what_the_kernel_holds_of_the_database_is_written(tmp_path):
    out, _ = start(tmp_path, "open('data/table', 'wb').write(bytes(64 << 20))").communicate(timeout=60)
    looks = [line["look"]["seen"][-1] for line in map(json.loads, out.splitlines()) if "look" in line]
    assert [(looks[at]["what"], looks[at]["value"]) for at in (0, -1)] == [
        ("files to write back", 1),
        ("files to write back", 0),
    ]
    assert dirty_pages(tmp_path / "data" / "table") in (0, None)


def dirty_pages(path):
    """Count them by cachestat(2); None on a kernel before 6.5."""
    libc, counts = ctypes.CDLL(None), (ctypes.c_uint64 * 5)()
    with path.open("rb") as file:
        whole = (ctypes.c_uint64 * 2)(0, 0)
        failed = libc.syscall(451, file.fileno(), ctypes.byref(whole), ctypes.byref(counts), 0)
    return None if failed else counts[1]


def test_when_the_time_is_over_it_goes_on(tmp_path):
    child = start(tmp_path, "import time; time.sleep(600)", timeout=0.2)
    out, _ = child.communicate(timeout=60)
    assert json.loads(out.splitlines()[-1])["end"]["quiet"] is False
    assert child.returncode == 0


def test_work_that_fails_is_a_failure(tmp_path):
    child = start(tmp_path, "import sys; sys.exit('Corruption: no MANIFEST')")
    _, err = child.communicate(timeout=60)
    said = "db_bench ended with status 1: Corruption: no MANIFEST"
    assert (child.returncode, err) == (1, f"the engine could not be looked at: {said}\n")
    (tmp_path / "stderr").write_text(f"a warning\n{err}")
    assert Quiesce().complaint(tmp_path) == f"the engine could not be looked at: {said}"


def test_stopped_it_ends_what_it_started(tmp_path):
    child = start(tmp_path, "import os, time; print(os.getpid(), flush=True); time.sleep(600)")
    output = tmp_path / "drain.stdout"
    while not output.exists() or not output.read_text().strip():
        time.sleep(0.02)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    assert child.returncode == 128 + signal.SIGTERM
    assert not Path("/proc", output.read_text().strip()).exists()


class FakeEngine:
    """An engine whose settings are put back when its settling ends."""

    def __init__(self):
        self.done: list[str] = []

    def connect(self, access):
        return SimpleNamespace(close=lambda: self.done.append("closed"))

    @contextmanager
    def settle(self, connection, access):
        yield
        self.done.append("put back")


def test_what_was_set_is_put_back_before_it_leaves():
    engine = FakeEngine()
    settling = SettleRequest(engine, None, flush=True, analyze=False)
    with settling.under_way():
        settling.start()
        while settling.reading() != IdleReading("statements under way", 0, 0):
            time.sleep(0.01)
        assert engine.done == []
    assert engine.done == ["put back", "closed"]


def test_a_statement_that_fails_is_said_by_the_next_look():
    def connect(access):
        raise ConnectionError("the server is gone")

    engine = SimpleNamespace(connect=connect)
    asking = SettleRequest(engine, None, flush=True, analyze=True)
    assert asking.reading().value == 1
    asking.start()
    asking.thread.join(60)
    with pytest.raises(ConnectionError, match=r"^the server is gone$"):
        asking.reading()
