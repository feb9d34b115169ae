"""Last words on a full disk, for real: all of outputs/ on a small file system."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from stepgrid.store import active_run
from stepgrid.store.active_run import DiskFull, with_reserve
from tests.needs import needs

# in a mount namespace of its own: what it prints is all that is left of that file system
INSIDE = """
import glob, os, shutil, subprocess, sys
kept, command = sys.argv[1] == "kept", sys.argv[2:]
shutil.copytree("outputs", "before")
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", "outputs"], check=True)
shutil.copytree("before", "outputs", dirs_exist_ok=True)
from stepgrid.store.active_run import keep_reserve
from stepgrid.store.store import Store
if kept:
    keep_reserve(Store())
file = os.open("outputs/filler", os.O_WRONLY | os.O_CREAT)
size = 1 << 20
while size:
    try:
        os.write(file, bytes(size))
    except OSError:
        size //= 2
os.close(file)
status = subprocess.run(command).returncode
for path in glob.glob("outputs/attempts/*/*/failure.json"):
    print(open(path).read())
sys.exit(status)
"""
PUBLISH = """
import sys
from stepgrid.run.attempt import Attempt, Job
from stepgrid.store.store import Store
import glob, os, shutil

store = Store()
os.unlink("outputs/filler")
attempt = Attempt(Job.load(store, "p", "s-load"))
file = os.open("outputs/filler", os.O_WRONLY | os.O_CREAT)
size = 1 << 20
while size:
    try:
        os.write(file, bytes(size))
    except OSError:
        size //= 2
published = attempt.publish("done")
print((published / "result.json").read_text())
print(os.path.samefile(store.mark("s-load"), published / "result.json"), store.lock("reserve").exists())
"""


def inside(checkout: Any, kept: bool, *command: str) -> subprocess.CompletedProcess[str]:
    argv = ["unshare", "-Urm", sys.executable, "-c", INSIDE, "kept" if kept else "none", *command]
    return subprocess.run(argv, cwd=checkout.folder, env=checkout.environment(), capture_output=True, text=True)


@needs("small disks")
@pytest.mark.parametrize("kept", [True, False])
def test_a_stage_that_cannot_begin_says_why(checkout: Any, stage: Any, kept: bool) -> None:
    checkout.plan(stage("s-load"))
    done = inside(checkout, kept, *checkout.command("s-load"))
    said = f"the disk of {checkout.folder.resolve()}/outputs is full: 0 B of 64 MiB free; {active_run.DISK_HINT}"
    assert done.returncode == 1
    assert done.stderr == f"failed: title of s-load\n  {said}\n"
    if not kept:
        assert done.stdout == ""
        return
    failure = json.loads(done.stdout)
    assert (failure["status"], failure["message"]) == ("failed", said)


@needs("small disks")
@pytest.mark.parametrize("kept", [True, False])
def test_a_measured_stage_is_published_with_the_reserve(checkout: Any, stage: Any, kept: bool) -> None:
    checkout.plan(stage("s-load"))
    done = inside(checkout, kept, sys.executable, "-c", PUBLISH)
    if not kept:
        assert " is full: 0 B of 64 MiB free" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    record, last = done.stdout.rsplit("}\n", 1)
    assert json.loads(record + "}")["status"] == "done"
    assert last == "\nTrue False\n"


def test_other_errors_are_no_full_disk(checkout: Any) -> None:
    with pytest.raises(ValueError, match="other"):
        with_reserve(checkout.store, lambda: int("other"))


def test_what_the_first_try_saw_is_said(checkout: Any) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(DiskFull, match=r"^the disk of \S+ is full: "):
        with_reserve(checkout.store, full)


def refusal(checkout: Any, small: str) -> str:
    """What a run says before it starts, with a disk too small at that place."""
    code = "from stepgrid.store.active_run import disk_refusal; from stepgrid.workflow import host_plan as here; print(disk_refusal(here.store()))"  # noqa: E501
    mount = f'mount -t tmpfs -o size=64k tmpfs "{checkout.folder}/{small}" && exec "$@"'
    argv = ["unshare", "-Urm", "sh", "-c", mount, "sh", sys.executable, "-c", code]
    env = checkout.environment(TMPDIR=str(checkout.folder / "temporary"))
    done = subprocess.run(argv, cwd=checkout.folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.replace(str(checkout.folder.resolve()), "").removesuffix("\n")


@needs("small disks")
def test_a_run_does_not_start_on_a_full_disk(checkout: Any, stage: Any) -> None:
    checkout.plan(stage("s-load"))
    for name in ("temporary", "elsewhere"):
        (checkout.folder / name).mkdir()
    size = "64 KiB of 64 KiB free"
    assert refusal(checkout, "elsewhere") == "None"
    assert refusal(checkout, "outputs") == f"the disk of /outputs is full: {size}; {active_run.DISK_HINT}"
    said = f"the disk of /temporary is full: {size}; free some, or set TMPDIR to another folder"
    assert refusal(checkout, "temporary") == said
