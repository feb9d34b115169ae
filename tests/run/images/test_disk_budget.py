"""A disk budget: what a stage needs is looked at before it begins, images make room, and what is missing is said."""

import json
import os
import re
import subprocess
import sys

import pytest

from stepgrid.run.disk import room
from stepgrid.store import images, paths
from stepgrid.store.store import Store
from tests.needs import needs

LARGE = """
import os, sys
os.makedirs(sys.argv[1], exist_ok=True)
open(sys.argv[1] + "/a.sst", "wb").write(bytes([1]) * {size})
"""
# in a mount namespace of its own: what it prints is all that is left of that file system
INSIDE = """
import os, shutil, subprocess, sys
shutil.copytree("outputs", "before")
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1600k", "tmpfs", "outputs"], check=True)
shutil.copytree("before", "outputs", dirs_exist_ok=True)
for stage in ("s-1", "s-2"):
    assert subprocess.run([*sys.argv[1:], stage]).returncode == 0, stage
print(sorted(os.listdir("outputs/images")))
"""


def _site(checkout, text):
    path = checkout.folder / "site.yaml"
    path.write_text(text)
    return {"STEPGRID_SITE": str(path)}


def _age(store, stage, seconds):
    for name in (paths.IMAGE_FILE, paths.USED):
        path = store.image(stage) / name
        if path.exists():
            os.utime(path, (path.stat().st_mtime - seconds,) * 2)


@pytest.fixture
def two(checkout, stage, step):
    """Two loads of 1 MiB with a child each; the loads are there."""
    size = 1 << 20
    checkout.plan(
        stage("s-1", step("load", LARGE.format(size=size)), children=["s-1r"]),
        stage("s-1r", step("read", "print(1)"), parent="s-1"),
        stage("s-2", step("load", LARGE.format(size=size)), children=["s-2r"]),
        stage("s-2r", step("read", "print(1)"), parent="s-2"),
    )
    assert checkout.run("s-1").returncode == 0
    return checkout


def test_what_a_database_grew_to_is_kept_and_learnt(two):
    attempt = two.attempt("s-1")
    assert attempt["disk"] == {"bytes": 1 << 20, "own": 1 << 20, "peak": 1 << 20}
    assert attempt["room"]["needed"] == 0
    assert attempt["room"]["known"] is False
    assert two.run("s-2").returncode == 0
    needs = two.attempt("s-2")["room"]
    assert (needs["needed"], needs["known"]) == (1 << 20, True)  # as the other load did
    assert two.run("s-1r").returncode == 0
    started = two.attempt("s-1r")
    assert started["disk"] == {"bytes": 1 << 20, "own": 0, "peak": 1 << 20}  # it shares what it starts from
    assert (started["image"]["bytes"], started["image"]["copied"]) == (1 << 20, 0)


def test_an_image_makes_room_and_that_is_journalled_and_said(two):
    assert two.run("s-1r").returncode == 0  # nothing of this run starts from it any more
    _age(two.store, "s-1", 3600)
    done = two.run("s-2", **_site(two, "disk: 1536KiB"))
    assert done.returncode == 0, done.stderr
    said = "evicted the image of title of s-1 (1 MiB, used 1h00m ago): title of s-2 needs 1 MiB\n"
    assert said in _whole(done.stderr)
    assert not two.store.image("s-1").exists()
    journal = (two.store.result("s-2") / "journal.jsonl").read_text().splitlines()
    event = next(e for e in map(json.loads, journal) if e["event"] == "image evicted")
    assert event["stage"] == "s-1"
    assert 1 << 20 <= event["bytes"] < (1 << 20) + 20_000  # with its record
    assert [p.name for p in two.store.image("_").parent.iterdir()] == ["s-2"]


def test_what_fits_evicts_nothing(two):
    assert two.run("s-2", **_site(two, "disk: 3MiB")).returncode == 0
    assert two.store.image("s-1").exists()


def test_too_little_for_it_at_all_is_a_clear_failure_and_evicts_nothing(two):
    done = two.run("s-2", **_site(two, "disk: 512KiB"))
    assert done.returncode == 1
    message = two.failure("s-2")["message"]
    assert re.sub(r"used \d+s", "used 1s", _whole(message)) == (
        "needs 1 MiB, 0 B free of 512 KiB (`disk` in the site file): images take 1 MiB: "
        "title of s-1 (1 MiB, used 1s ago); "
        "free some with `stepgrid images --evict STAGE`, or with `stepgrid gc --yes` and `stepgrid gc --empty`, "
        "or raise `disk`"
    )
    assert two.store.image("s-1").exists()
    assert two.live() == []


def test_the_image_that_it_starts_from_stays(two):
    done = two.run("s-1r", **_site(two, "disk: 512KiB"))
    assert done.returncode == 1
    assert ", which it starts from" in two.failure("s-1r")["message"]
    assert two.store.image("s-1").exists()


def test_an_image_that_is_being_restored_stays(two):
    site = _site(two, "disk: 1536KiB")
    with images.hold_image(two.store, "s-1"):
        assert two.run("s-2", **site).returncode == 1
    assert two.store.image("s-1").exists()
    assert two.run("s-2", **site).returncode == 0
    assert not two.store.image("s-1").exists()  # that of a planned child goes last, but it goes


def test_a_restore_is_a_use(two):
    _age(two.store, "s-1", 3600)
    before = images.list_images(two.store)[0].used
    assert two.run("s-1r").returncode == 0
    assert images.list_images(two.store)[0].used > before + 3000


def test_without_a_budget_it_is_what_the_device_has_less_a_reserve(tmp_path, monkeypatch):
    class Device:
        f_bavail, f_blocks, f_frsize = 300, 1000, 4096

    monkeypatch.setattr(os, "statvfs", lambda path: Device)
    found = room(Store(tmp_path / "outputs"), None)
    assert found.free == 300 * 4096 - 1000 * 4096 // 50
    assert found.sentence == "1.094 MiB free"
    assert room(Store(tmp_path / "outputs"), 1 << 20).sentence == "1 MiB free of 1 MiB (`disk` in the site file)"


def _whole(text):
    """Without what an image's record takes."""
    return re.sub(r"1\.0\d+ MiB", "1 MiB", text)


@needs("small disks")
def test_on_a_small_device_an_image_makes_room(checkout, stage, step):
    load = step("load", LARGE.format(size=1 << 20))
    checkout.plan(stage("s-1", load, children=["s-1r"]), stage("s-2", load, children=["s-2r"]))
    argv = ["unshare", "-Urm", sys.executable, "-c", INSIDE, *checkout.command("")[:-1]]
    done = subprocess.run(argv, cwd=checkout.folder, env=checkout.environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "['s-2']\n"), done.stderr
    assert "evicted the image of title of s-1 (1 MiB, used " in _whole(done.stderr)
