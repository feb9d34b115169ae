"""Room for databases: the budget, evicted images, full disks and the reserve, for real."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.run.disk_budget import EvictableImage, choose, freed_bytes, order, room
from stepgrid.store import active_run, images, paths
from stepgrid.store.images import Image
from stepgrid.store.paths import Blocks
from stepgrid.store.store import Store
from tests.needs import needs


def image(stage, used, *files, needed=False):
    """`files`: inode, bytes, links."""
    blocks = {(1, inode): Blocks(size, 1, links) for inode, size, links in files}
    return EvictableImage(Image(stage, Path(stage), stage, used, blocks), needed)


def names(found):
    return None if found is None else [each.image.stage for each in found]


OLD, NEW, NEEDED = image("old", 1, (1, 10, 1)), image("new", 2, (2, 10, 1)), image("needed", 0, (3, 10, 1), needed=True)


def test_the_least_lately_used_goes_first_and_what_the_run_needs_last():
    assert names(order([NEEDED, NEW, OLD])) == ["old", "new", "needed"]
    assert names(choose([NEEDED, NEW, OLD], 0)) == []
    assert names(choose([NEEDED, NEW, OLD], 10)) == ["old"]
    assert names(choose([NEEDED, NEW, OLD], 11)) == ["old", "new"]
    assert names(choose([NEEDED, NEW, OLD], 30)) == ["old", "new", "needed"]


def test_a_file_counts_when_the_last_image_that_has_it_goes():
    load, aged = image("load", 1, (1, 100, 2), (2, 5, 1)), image("aged", 2, (1, 100, 2))
    assert freed_bytes([load]) == 5
    assert freed_bytes([load, aged]) == 105
    assert names(choose([load, aged], 6)) == ["load", "aged"]
    assert freed_bytes([image("live", 1, (1, 100, 2))]) == 0  # a database in use has the other link


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


def test_too_little_for_it_at_all_is_a_clear_failure_and_evicts_nothing(two):
    done = two.run("s-2", **_site(two, "disk: 512KiB"))
    assert done.returncode == 1
    message = two.failure("s-2")["message"]
    assert re.sub(r"used \d+s", "used 1s", _whole(message)) == (
        "needs 1 MiB, 0 B free of 512 KiB (`disk` in the site file): images take 1 MiB: "
        "title of s-1 (1 MiB, used 1s ago); "
        "free some with `stepgrid images STAGE --yes`, or with `stepgrid gc --yes` and `stepgrid gc --empty`, "
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


FILL = """
import os, sys
try:
    with open(sys.argv[1] + "/data", "wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
            file.flush()
except OSError as error:
    sys.exit("put error: IO error: " + os.strerror(error.errno))
"""
# runs in a mount namespace of its own: what it prints is all that is left of that file system
INSIDE_SMALL = """
import glob, os, shutil, subprocess, sys
small, command = sys.argv[1], sys.argv[2:]
shutil.copytree("outputs", "before")
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small], check=True)
if small == "outputs":
    shutil.copytree("before", "outputs", dirs_exist_ok=True)
status = subprocess.run(command).returncode
for path in glob.glob("outputs/attempts/*/*/failure.json"):
    print(open(path).read())
print(os.listdir("outputs/live"), file=sys.stderr)
sys.exit(status)
"""


@needs("small disks")
@pytest.mark.parametrize("small", ["outputs", "outputs/live"])
def test_a_full_disk_is_named_and_leaves_a_failure_and_no_database(checkout, stage, step, small):
    checkout.plan(stage("s-load", step("load", FILL)))
    (checkout.folder / small).mkdir(exist_ok=True)
    argv = ["unshare", "-Urm", sys.executable, "-c", INSIDE_SMALL, small, *checkout.command("s-load")]
    done = subprocess.run(argv, cwd=checkout.folder, env=checkout.environment(), capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    failure = json.loads(done.stdout)
    assert failure["status"] == "failed"
    assert failure["step"] == "load"
    assert failure["message"].startswith(f"the disk of {checkout.folder.resolve()}/outputs/live/s-load.")
    assert " of 4 MiB free; free some, load less, or use another disk" in failure["message"]
    if small == "outputs/live":  # on a disk of its own the log has room for the engine's words
        assert failure["tail"] == "put error: IO error: No space left on device"
    assert f"  load: {failure['message']}\n" in done.stderr
    assert done.stderr.endswith("[]\n")
    assert "Traceback" not in done.stderr


@needs("small disks")
def test_an_image_that_does_not_fit(checkout, stage, step):
    big = "import sys; open(sys.argv[1] + '/LOG', 'wb').write(bytes(8 << 20))"
    checkout.plan(stage("s-load", step("load", big), children=["s-read"]), stage("s-read", parent="s-load"))
    assert checkout.run("s-load").returncode == 0
    argv = ["unshare", "-Urm", sys.executable, "-c", INSIDE_SMALL, "outputs/live", *checkout.command("s-read")]
    done = subprocess.run(argv, cwd=checkout.folder, env=checkout.environment(), capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    failure = json.loads(done.stdout)
    assert failure["step"] is None
    assert failure["message"].startswith(f"the disk of {checkout.folder.resolve()}/outputs/live/s-read.")
    assert " of 4 MiB free" in failure["message"]


@needs("small disks")
def test_a_live_folder_on_another_file_system(checkout, stage, step):
    """Restored and saved by copies, since links and renames do not reach across."""
    checkout.plan(stage("s-load", children=["s-read"]), stage("s-read", parent="s-load"))
    (checkout.folder / "outputs" / "live").mkdir()
    both = "import subprocess, sys; [subprocess.run([*sys.argv[1:-1], s], check=True) for s in ('s-load', 's-read')]"
    command = [sys.executable, "-c", both, *checkout.command("unused")]
    argv = ["unshare", "-Urm", sys.executable, "-c", INSIDE_SMALL, "outputs/live", *command]
    done = subprocess.run(argv, cwd=checkout.folder, env=checkout.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert checkout.attempt("s-read")["image"]["method"] == "copy"
    assert (checkout.store.image("s-load") / "data" / "000001.sst").stat().st_size == 5000


FILL_DISK = """
file = os.open("outputs/filler", os.O_WRONLY | os.O_CREAT)
size = 1 << 20
while size:
    try:
        os.write(file, bytes(size))
    except OSError:
        size //= 2
os.close(file)
"""


# in a mount namespace of its own: what it prints is all that is left of that file system
INSIDE_FULL = (
    """
import glob, os, shutil, subprocess, sys
kept, command = sys.argv[1] == "kept", sys.argv[2:]
shutil.copytree("outputs", "before")
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", "outputs"], check=True)
shutil.copytree("before", "outputs", dirs_exist_ok=True)
from stepgrid.store.active_run import keep_reserve
from stepgrid.store.store import Store
if kept:
    keep_reserve(Store())
"""
    + FILL_DISK
    + """
status = subprocess.run(command).returncode
for path in glob.glob("outputs/attempts/*/*/failure.json"):
    print(open(path).read())
sys.exit(status)
"""
)
PUBLISH = (
    """
import sys
from stepgrid.run.attempt import Attempt, Job
from stepgrid.store.store import Store
import glob, os, shutil

store = Store()
os.unlink("outputs/filler")
attempt = Attempt(Job.load(store, "p", "s-load"))
"""
    + FILL_DISK
    + """
published = attempt.publish("done")
print((published / "result.json").read_text())
print(os.path.samefile(store.mark("s-load"), published / "result.json"), store.lock("reserve").exists())
"""
)


def inside(checkout, kept, *command):
    argv = ["unshare", "-Urm", sys.executable, "-c", INSIDE_FULL, "kept" if kept else "none", *command]
    return subprocess.run(argv, cwd=checkout.folder, env=checkout.environment(), capture_output=True, text=True)


@needs("small disks")
@pytest.mark.parametrize("kept", [True, False])
def test_a_stage_that_cannot_begin_says_why(checkout, stage, kept):
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
def test_a_measured_stage_is_published_with_the_reserve(checkout, stage, kept):
    checkout.plan(stage("s-load"))
    done = inside(checkout, kept, sys.executable, "-c", PUBLISH)
    if not kept:
        assert " is full: 0 B of 64 MiB free" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    record, last = done.stdout.rsplit("}\n", 1)
    assert json.loads(record + "}")["status"] == "done"
    assert last == "\nTrue False\n"


def refusal(checkout, small):
    """What a run says before it starts, with a disk too small at that place."""
    code = "from stepgrid.store.active_run import disk_refusal; from stepgrid.workflow import host_plan as here; print(disk_refusal(here.store()))"  # noqa: E501
    mount = f'mount -t tmpfs -o size=64k tmpfs "{checkout.folder}/{small}" && exec "$@"'
    argv = ["unshare", "-Urm", "sh", "-c", mount, "sh", sys.executable, "-c", code]
    env = checkout.environment(TMPDIR=str(checkout.folder / "temporary"))
    done = subprocess.run(argv, cwd=checkout.folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.replace(str(checkout.folder.resolve()), "").removesuffix("\n")


@needs("small disks")
def test_a_run_does_not_start_on_a_full_disk(checkout, stage):
    checkout.plan(stage("s-load"))
    for name in ("temporary", "elsewhere"):
        (checkout.folder / name).mkdir()
    size = "64 KiB of 64 KiB free"
    assert refusal(checkout, "elsewhere") == "None"
    assert refusal(checkout, "outputs") == f"the disk of /outputs is full: {size}; {active_run.DISK_HINT}"
    said = f"the disk of /temporary is full: {size}; free some, or set TMPDIR to another folder"
    assert refusal(checkout, "temporary") == said
