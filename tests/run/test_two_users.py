"""Two users on one host: one measures, the other waits for it, reads what is there, and can write none of it."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

from tests.waiting import LONG

ROOT = Path(__file__).resolve().parents[2]
OTHER = 65534
PACKAGES = sysconfig.get_path("purelib")
PYTHONS = (
    sys.executable,
    f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}",
)  # ours may lie in a closed folder
MEASURE = "import sys, time; print('up', flush=True); time.sleep(3)"  # while another one starts
WAIT = """
from stepgrid.host.locks import host_lock
with host_lock(shared=True):
    print("it is my turn")
"""
READ = """
from stepgrid.store.status import job_status
from stepgrid.store.store import Store
store = Store("outputs")
found = job_status(store, "p")
print(*(len(found.nodes_with(status)) for status in ("done", "failed", "missing")), store.unwritable())
"""
SPOIL = """
from pathlib import Path
from stepgrid.store.store import Store
result = Store("outputs").result("s-load")
for spoil in (lambda: (result / "result.json").write_text("{}"), lambda: (result / "new").touch(),
              lambda: result.rename("elsewhere"), lambda: Store("outputs").new_attempt("s-load")):
    try:
        spoil()
        print("spoilt")
    except PermissionError:
        print("refused")
"""


def _as_other(checkout, *arguments, python):
    """Python as another user, with the packages of ours."""
    env = checkout.environment(HOME=str(checkout.folder), PYTHONDONTWRITEBYTECODE="1")
    env["PYTHONPATH"] += f":{PACKAGES}"
    return subprocess.Popen(
        [python, *arguments], cwd=checkout.folder, env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, user=OTHER, group=OTHER, extra_groups=[],
    )  # fmt: skip


def _runs(checkout, python):
    try:
        trial = _as_other(checkout, "-c", "import stepgrid.run.stage", python=python)
    except OSError:
        return False
    trial.communicate(timeout=LONG)
    return trial.returncode == 0


@pytest.fixture
def shared(checkout, stage, step):
    """A checkout of ours in a folder that everybody may enter; it has one stage, that is not measured yet."""
    if os.geteuid() != 0:
        pytest.skip("only root can be two users")
    folder = Path(tempfile.mkdtemp(prefix="stepgrid-"))
    folder.chmod(0o755)
    made = type(checkout)(folder)
    made.build()
    made.plan(stage("s-load", step("load", MEASURE)))
    yield made
    for process in made.started:
        process.kill()
        process.communicate()
    shutil.rmtree(folder)


@pytest.fixture
def other(shared):
    found = next((python for python in PYTHONS if _runs(shared, python)), None)
    if found is None:
        pytest.skip("another user has no Python that can read this checkout")
    return lambda *arguments: _as_other(shared, *arguments, python=found)


def test_one_waits_for_the_other_and_is_told_for_whom(shared, other, until):
    runner = shared.start("s-load")
    until(lambda: list(shared.store.root.glob("attempts/s-load/*/steps/0-load/stdout")))
    waiter = other("-c", WAIT)
    out, err = waiter.communicate(timeout=LONG)
    assert err.startswith(f"waiting for the host: process {runner.pid} of root ({sys.executable} ")
    assert re.search(r"p s-\S*\), for \d+s( of about \d+s)?(; all of its run: about \d+s more)?\n$", err)
    assert (out, runner.wait(LONG)) == ("it is my turn\n", 0)


def test_a_lock_that_another_user_made(shared):
    lock = shared.folder / "host.lock"
    lock.touch()
    os.chown(lock, OTHER, OTHER)
    lock.chmod(0o666)
    assert shared.run("s-load").returncode == 0


def test_results_are_read_by_all_and_written_by_their_owner(shared, other):
    assert shared.run("s-load").returncode == 0
    before = sorted(path for path in shared.store.root.rglob("*"))
    out, err = other("-c", READ).communicate(timeout=LONG)
    assert (out, err) == ("1 0 0 outputs\n", "")
    out, err = other("-c", SPOIL).communicate(timeout=LONG)
    assert (out, err) == ("refused\n" * 4, "")
    assert sorted(path for path in shared.store.root.rglob("*")) == before


def test_who_cannot_write_there_is_told_so(shared, other):
    runner = other(*shared.command("s-load")[1:])
    _, err = runner.communicate(timeout=LONG)
    assert runner.returncode == 1
    assert err.startswith("failed: title of s-load\n  the system refused: [Errno 13] Permission denied: ")
    assert "Traceback" not in err
