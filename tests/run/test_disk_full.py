"""A full disk, for real: outputs/live or all of outputs/ on a file system of a few megabytes."""

import json
import subprocess
import sys

import pytest

from tests.needs import needs

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
INSIDE = """
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
    argv = ["unshare", "-Urm", sys.executable, "-c", INSIDE, small, *checkout.command("s-load")]
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
    argv = ["unshare", "-Urm", sys.executable, "-c", INSIDE, "outputs/live", *checkout.command("s-read")]
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
    argv = ["unshare", "-Urm", sys.executable, "-c", INSIDE, "outputs/live", *command]
    done = subprocess.run(argv, cwd=checkout.folder, env=checkout.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert checkout.attempt("s-read")["image"]["method"] == "copy"
    assert (checkout.store.image("s-load") / "data" / "000001.sst").stat().st_size == 5000
