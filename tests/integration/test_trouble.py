"""What goes wrong on real machines, with real Snakemake, runner and db_bench: said clearly, and nothing is lost."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration import clock
from tests.integration.conftest import SPEC, Lab, measuring
from tests.needs import needs, require
from tests.run.test_disk_budget import FILL_DISK
from tests.waiting import LONG, until

ONE = SPEC.replace("repeat: 2", "repeat: 1")
ALL = ["fillseq", "readrandom", "readrandom"]


def made(depot, folder, text=ONE):
    (folder / "outputs").mkdir(parents=True)
    shutil.copytree(depot / "builds", folder / "outputs" / "builds", copy_function=os.link, symlinks=True)
    lab = Lab(folder)
    lab.write(text)
    return lab


def inside(*arguments, root=False):
    """In mount namespaces of their own."""
    return ["unshare", "-m" if root else "-Urm", *arguments]


def can(*arguments, root=False):
    if shutil.which("unshare") is None or (root and os.geteuid() != 0):
        return False
    return subprocess.run(inside(*arguments, root=root), capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def finished(depot, tmp_path_factory):
    """Everything is measured; whoever takes it leaves it so."""
    lab = made(depot, tmp_path_factory.mktemp("finished") / "lab")
    ended = lab.run()
    assert ended.returncode == 0, ended.stderr
    yield lab
    assert lab.processes() == []


@needs("cc")
def test_a_clock_that_is_set_back_in_the_middle_of_a_stage(lab):
    """By an hour: what follows is named and told apart all the same, and nothing is measured twice."""
    fake = clock.compiled(lab.folder)
    lab.write(ONE)
    run = lab.start(lab.argv("run", "spec.yaml"), **fake.env)
    until(lambda: measuring(lab))
    fake.move()
    assert run.wait(LONG) == 0, lab.screen
    assert lab.steps(set(lab.results())) == ALL
    assert all(int(seconds) < 60 for seconds in re.findall(r"ETA (\d+)s", lab.screen)), lab.screen
    assert not re.search(r"ETA -|to -|in -", lab.screen)
    for env in (fake.env, {}):  # with the hour missing, and when it is right again
        second = lab.run(**env)
        assert (second.returncode, second.stdout[:13]) == (0, "nothing to do"), second.stderr
    last = min(lab.results(), key=lambda name: Path(name).name)
    record = lab.folder / "outputs" / "results" / last / "result.json"
    record.write_text(record.read_text()[:99])
    before = set(lab.results())
    assert lab.run(**fake.env).returncode == 0
    assert lab.steps(set(lab.results())) == ALL, "what was cut short was measured again"
    (again,) = set(lab.results()) - before
    assert Path(again).parent == Path(last).parent
    assert Path(again).name > Path(last).name


@needs("cc")
def test_a_host_that_is_suspended_in_the_middle_of_a_step(lab):
    """For an hour, which the time that a step may take does not have; the figures carry a warning."""
    fake = clock.compiled(lab.folder, step=3600)
    lab.write(ONE)
    run = lab.start(lab.argv("run", "spec.yaml"), **fake.env)
    until(lambda: measuring(lab))
    fake.move()
    assert run.wait(LONG) == 0, lab.screen
    assert lab.steps(set(lab.results())) == ALL
    (warned,) = {warning for each in lab.results() for warning in _warnings(lab, each)}
    assert warned == "the host was suspended for 1h00m while the step ran: `stepgrid redo` measures it again"
    (summary,) = lab.folder.glob("outputs/summary/*/summary.txt")
    assert "the host was suspended for 1h00m while the step ran" in " ".join(summary.read_text().split())
    assert lab.run(**fake.env).stdout.startswith("nothing to do")


def _warnings(lab, result):
    record = json.loads((lab.folder / "outputs" / "results" / result / "result.json").read_text())
    return [warning for step in record["steps"] for warning in step.get("warnings", ())]


def test_a_path_with_blanks_and_more_no_home_and_no_pressure(depot, tmp_path):
    lab = made(depot, tmp_path / "Läufe von 'heute' & \"gestern\" $HOME {x} %s" / ("lang" * 40))
    argv = ["env", "-u", "HOME", *lab.argv("run", "spec.yaml")]
    if can("mount", "--bind", "/mnt", "/proc/pressure"):
        argv = inside("sh", "-c", 'mount --bind /mnt /proc/pressure && exec "$@"', "sh", *argv)
    ended = lab.execute(argv)
    assert ended.returncode == 0, ended.stderr
    assert lab.steps(set(lab.results())) == ALL
    assert "Traceback" not in ended.stderr


@needs("small disks")
def test_a_disk_without_room_for_another_file(lab):
    lab.write(ONE)
    live = lab.folder / "outputs" / "live"
    live.mkdir()
    small = f'mount -t tmpfs -o size=64m,nr_inodes=12 tmpfs "{live}" && exec "$@"'
    ended = lab.execute(inside("sh", "-c", small, "sh", *lab.argv("run", "spec.yaml")))
    assert ended.returncode == 3
    said = r"fillseq: the disk of \S+/live/\S+ is full: [0-7] of its 12 inodes are free \(files and folders\); "
    assert re.search(said + "remove some, or use another disk\n", ended.stderr), ended.stderr
    assert [*live.iterdir()] == []


def _loop(image):
    said = subprocess.run(["losetup", "-j", str(image)], capture_output=True, text=True, check=True).stdout
    return Path(said.split(":")[0]).name


@pytest.fixture
def disk(tmp_path):
    """A file with an ext4 in it, which becomes read-only at the first error."""
    image = tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    require("mkfs.ext4")
    if not can("true", root=True):
        pytest.skip("only root can mount a disk that breaks")
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    if not can("mount", "-o", "loop", str(image), "/mnt", root=True):
        pytest.skip("no loop devices here")
    return image


def test_a_disk_that_becomes_read_only(lab, disk):
    lab.write(ONE.replace("duration: 1s", "duration: 3s"))
    live = lab.folder / "outputs" / "live"
    live.mkdir()
    mount = f'mount -o loop,errors=remount-ro "{disk}" "{live}" && exec "$@"'
    run = lab.start(inside("sh", "-c", mount, "sh", *lab.argv("run", "spec.yaml"), root=True))
    until(lambda: measuring(lab))
    Path("/sys/fs/ext4", _loop(disk), "trigger_fs_error").write_text("a disk that breaks")
    assert run.wait(LONG) == 3
    assert re.search(r"readrandom: the disk of \S+ is read-only now: see the kernel's log \(dmesg\)\n", lab.screen)
    assert "Traceback" not in lab.screen
    assert lab.steps(set(lab.results())) == ["fillseq"]


def test_a_damaged_file_of_a_result(finished):
    """The run that reads it says so and leaves it aside; the next one measures that stage alone."""
    there = set(finished.results())
    damaged = max(there)
    (log,) = (finished.folder / "outputs" / "results" / damaged).glob("steps/*/stdout")
    size, name = log.stat().st_size, str(log.relative_to(log.parents[2]))
    log.write_text("")
    shutil.rmtree(finished.folder / "outputs" / "summary")
    for figures in log.parents[2].glob("figures.*"):  # with them nobody reads the raw output
        figures.unlink()
    first = finished.run()
    assert first.returncode == 3, first.stderr
    assert "Traceback" not in first.stderr
    fault = f"`{name}` has 0 bytes, it was published with {size}"
    kept = f"outputs/attempts/{damaged}"
    said = f"outputs/results/{damaged} is broken: {fault}. It is kept in {kept}; the next run measures it again\n"
    assert first.stderr.count(said) == 1, first.stderr
    assert (finished.folder / kept / "result.json").is_file()
    (text,) = (finished.folder / "outputs").glob("summary/*/summary.txt")
    assert "INCOMPLETE: 1 of 3 measured steps have no figures yet" in text.read_text()
    assert "it was complete, and is broken now" in text.read_text()
    status = finished.execute(finished.argv("status", "spec.yaml"))
    assert "2/3 done, 1 interrupted" in status.stdout
    plan = finished.execute(finished.argv("plan", "spec.yaml"))
    assert fault in " ".join(plan.stdout.split())
    second = finished.run()
    assert second.returncode == 0, second.stderr
    assert "3 done (measured steps)" in text.read_text()
    assert there - set(finished.results()) == {damaged}
    assert len(finished.results()) == len(there)


WAIT = """
import glob, os, time
while not glob.glob("outputs/results/*/*/result.json"):
    time.sleep(0.01)
"""
FILLER = WAIT + FILL_DISK
SMALL = """
mount -t tmpfs -o size=200m tmpfs "$1"
cd "$1" && cp -a "$2"/. . && shift 2
python3 filler.py &
"$@"; echo "first: $?"
cat outputs/summary/*/summary.txt
rm outputs/filler
"$@" >/dev/null; echo "second: $?"
"""


def test_a_run_without_bash_starts_nothing_and_says_why(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for path in Path("/usr/bin").iterdir():
        if path.name != "bash":
            (programs / path.name).symlink_to(path)
    lab = Lab(tmp_path)
    steps = 'steps: [{name: one, kind: command, argv: ["{program:python3}", -c, ""]}]'
    lab.write(f"title: t\nbuilds: {{b: {{engine: program, version: '1', source: {{system: python3}}}}}}\n{steps}\n")
    # a fork of the tests has found bash already
    done = lab.execute(["env", *lab.argv("run", "spec.yaml")], LONG, PATH=str(programs))
    why = "there is no bash on PATH, and the jobs that collect and report begin in it"
    assert (done.returncode, done.stderr) == (3, f"nothing was started: {why}; install it\n")
    assert not (tmp_path / "outputs" / "attempts").exists()


@needs("small disks")
def test_the_disk_of_the_checkout_becomes_full(depot, tmp_path):
    """That of outputs/ and of Snakemake's notes: stages fail, the report is made, and the run can go on later."""
    lab = made(depot, tmp_path / "lab")
    (lab.folder / "filler.py").write_text(FILLER)
    (tmp_path / "small").mkdir()
    command = ["sh", "-c", SMALL, "sh", str(tmp_path / "small"), str(lab.folder), *lab.argv("run", "spec.yaml")]
    ended = lab.execute(inside(*command))
    assert "Traceback" not in ended.stderr, ended.stderr
    first, _, second = ended.stdout.partition("first: 3\n")
    assert second.endswith("second: 0\n"), ended.stdout + ended.stderr
    assert first == ""
    assert "INCOMPLETE: 2 of 3 measured steps have no figures yet" in second
    full = rf"the disk of {tmp_path.resolve()}/small/outputs\S* is full: 0 B of 200 MiB free; "
    assert re.search(full, ended.stderr), ended.stderr
    assert re.search(full, re.sub(r"\s+", " ", second)), second
    assert "the run is not complete: [1/3 done] 2 failed" in ended.stderr
    assert "report of what was measured: outputs/summary/" in ended.stderr
