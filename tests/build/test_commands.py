import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stepgrid.build.commands import COOKIE, Commands, mask_credentials
from stepgrid.build.error import BuildError
from tests.cases import rows


def test_all_that_is_said_is_logged(tmp_path):
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = Commands(tmp_path / "log", tmp_path).run([sys.executable, "-c", code], 60)
    assert (done.status, done.stdout, done.stderr) == (3, "out\n", "err\n")
    log = (tmp_path / "log").read_text().splitlines()
    assert log[0].startswith(f"$ {sys.executable} -c ")
    assert log[1:3] == ["out", "err"]
    assert log[3].startswith("[exit status 3, ")


def test_no_shell_and_no_input(tmp_path):
    code = "import sys; print(sys.argv[1], repr(sys.stdin.read()))"
    done = Commands(tmp_path / "log", tmp_path).run([sys.executable, "-c", code, "$HOME; x"], 60)
    assert done.stdout == "$HOME; x ''\n"


def test_one_that_hangs(tmp_path):
    with pytest.raises(BuildError, match=r"^sleep did not end within 0\.05 s: sleep 60$"):
        Commands(tmp_path / "log", tmp_path).run(["sleep", "60"], 0.05)


# a child that leaves its parent, its session and its process group
STRAY = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3000):
            open(sys.argv[1], "a").write(".")
            time.sleep(0.01)
    os._exit(0)
os.wait()
"""


def stands_still(file):
    before = file.stat().st_size
    time.sleep(0.1)
    return file.stat().st_size == before


def wait_for(file):
    while not file.exists():
        time.sleep(0.01)


def test_what_a_command_leaves_running_ends_with_it(tmp_path):
    code = STRAY + "\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
    Commands(tmp_path / "log", tmp_path).compile([sys.executable, "-c", code, str(tmp_path / "grows")], 60)
    assert stands_still(tmp_path / "grows")


def test_all_of_one_that_hangs_is_ended(tmp_path):
    code = STRAY + "\ntime.sleep(60)\n"
    with pytest.raises(BuildError, match=r"did not end within 1 s"):
        Commands(tmp_path / "log", tmp_path).run([sys.executable, "-c", code, str(tmp_path / "grows")], 1)
    assert not (tmp_path / "grows").exists() or stands_still(tmp_path / "grows")


JOB = """
import sys
from pathlib import Path
from stepgrid.build.commands import Commands
Commands(Path(sys.argv[1]) / "log", Path(sys.argv[1])).compile([sys.executable, "-c", sys.argv[2], sys.argv[3]], 60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_all_of_a_killed_job_is_ended(number, tmp_path):
    grows, code = tmp_path / "grows", STRAY + "\ntime.sleep(60)\n"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "compiler")}
    job = subprocess.Popen([sys.executable, "-c", JOB, str(tmp_path), code, str(grows)], env=env)
    wait_for(grows)
    job.send_signal(number)
    job.wait()
    for _ in range(200):
        if stands_still(grows):
            break
    assert stands_still(grows)


def test_nobody_can_be_asked(tmp_path):
    """No terminal: what asks for a password fails at once."""
    done = Commands(tmp_path / "log", tmp_path).run(["sh", "-c", ": < /dev/tty"], 60)
    assert done.status != 0


@pytest.mark.parametrize(("text", "shown"), rows(__file__, "what_lets_someone_in"))
def test_what_lets_someone_in(text, shown):
    assert mask_credentials(text) == shown


def test_what_reaches_a_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("CXXFLAGS", "-O0")
    monkeypatch.setenv("GIT_DIR", "x")
    monkeypatch.setenv("https_proxy", "http://a.example:3128")
    commands = Commands(tmp_path / "log", tmp_path)
    asked = commands.run(["env"], 60, quiet=True, env={"X": "y"}).stdout.splitlines()
    assert commands.compile(["env"], 60, env={"X": "y"}) == 0
    made = (tmp_path / "log").read_text().splitlines()
    assert ("CXXFLAGS=-O0" in asked, "CXXFLAGS=-O0" in made) == (True, False)
    common = {"X=y", "LC_ALL=C", f"{COOKIE}={tmp_path}", f"TMPDIR={tmp_path}/tmp", "https_proxy=http://a.example:3128"}
    for environment in (asked, made):
        assert common <= {*environment}
        assert "GIT_DIR=x" not in environment
