"""The program as a real process; what stands for db_bench is a script."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from stepgrid.drivers.quiesce import Quiesce
from stepgrid.drivers.quiesce.waiting import SettleRequest
from stepgrid.package import PACKAGE
from stepgrid.plugins.server import IdleReading

PROGRAM = (sys.executable, "-m", "stepgrid.drivers.quiesce")


def start(folder: Path, script: str, **given: Any) -> subprocess.Popen[str]:
    request = {"access": None, "argv": [sys.executable, "-c", script], "data": folder, "device": None, "endless": False}
    asked = {
        "timeout": 60.0,
        "quiet": 0.2,
        "flush": True,
        "analyze": True,
        "device_busy": 100.0,
        "device_writes": 2**50,
    }
    (folder / "request.json").write_text(json.dumps({**request, **asked, **given}, default=str))
    return subprocess.Popen(
        PROGRAM,
        cwd=folder,
        env={"PYTHONPATH": str(PACKAGE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_looks_until_the_work_is_done(tmp_path: Path) -> None:
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


def test_one_that_is_held_open_is_looked_at_and_ended(tmp_path: Path) -> None:
    out, err = start(tmp_path, HELD, endless=True).communicate(timeout=60)
    looks = [line["look"] for line in map(json.loads, out.splitlines()) if "look" in line]
    seen = [(look["seen"][0]["what"], look["seen"][0]["value"]) for look in looks]
    assert seen[0] == ("db_bench at work", 1)
    assert ("files being compacted", 3) in seen
    assert seen[-1] == ("files being compacted", 0)
    assert (json.loads(out.splitlines()[-1])["end"]["quiet"], err) == (True, "")
    assert not Path("/proc", (tmp_path / "drain.stdout").read_text().strip()).exists()


def test_when_the_time_is_over_it_goes_on(tmp_path: Path) -> None:
    child = start(tmp_path, "import time; time.sleep(600)", timeout=0.2)
    out, _ = child.communicate(timeout=60)
    assert json.loads(out.splitlines()[-1])["end"]["quiet"] is False
    assert child.returncode == 0


def test_work_that_fails_is_a_failure(tmp_path: Path) -> None:
    child = start(tmp_path, "import sys; sys.exit('Corruption: no MANIFEST')")
    _, err = child.communicate(timeout=60)
    said = "db_bench ended with status 1: Corruption: no MANIFEST"
    assert (child.returncode, err) == (1, f"the engine could not be looked at: {said}\n")
    (tmp_path / "stderr").write_text(f"a warning\n{err}")
    assert Quiesce().complaint(tmp_path) == f"the engine could not be looked at: {said}"


def test_one_that_says_nothing_has_no_complaint(tmp_path: Path) -> None:
    assert Quiesce().complaint(tmp_path) is None
    (tmp_path / "stderr").write_text("Killed\n")
    assert Quiesce().complaint(tmp_path) is None


def test_stopped_it_ends_what_it_started(tmp_path: Path) -> None:
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

    def __init__(self) -> None:
        self.done: list[str] = []

    def connect(self, access: Any) -> Any:
        return SimpleNamespace(close=lambda: self.done.append("closed"))

    @contextmanager
    def settle(self, connection: Any, access: Any) -> Iterator[None]:
        yield
        self.done.append("put back")


def test_what_was_set_is_put_back_before_it_leaves() -> None:
    engine: Any = FakeEngine()
    settling = SettleRequest(engine, cast(Any, None), flush=True, analyze=False)
    with settling.under_way():
        settling.start()
        while settling.reading() != IdleReading("statements under way", 0, 0):
            time.sleep(0.01)
        assert engine.done == []
    assert engine.done == ["put back", "closed"]


def test_a_statement_that_fails_is_said_by_the_next_look() -> None:
    def connect(access: Any) -> Any:
        raise ConnectionError("the server is gone")

    engine: Any = SimpleNamespace(connect=connect)
    asking = SettleRequest(engine, cast(Any, None), flush=True, analyze=True)
    assert asking.reading().value == 1
    asking.start()
    asking.thread.join(60)
    with pytest.raises(ConnectionError, match=r"^the server is gone$"):
        asking.reading()
