import sys
from pathlib import Path

import pytest

from compiler.build.command import Commands
from compiler.build.problem import BuildError


def test_all_that_is_said_is_logged(tmp_path: Path):
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = Commands(tmp_path / "log", tmp_path).run([sys.executable, "-c", code], 60)
    assert (done.status, done.stdout, done.stderr) == (3, "out\n", "err\n")
    log = (tmp_path / "log").read_text().splitlines()
    assert log[0].startswith(f"$ {sys.executable} -c ")
    assert log[1:3] == ["out", "err"]
    assert log[3].startswith("[exit status 3, ")


def test_no_shell_and_no_input(tmp_path: Path):
    code = "import sys; print(sys.argv[1], repr(sys.stdin.read()))"
    done = Commands(tmp_path / "log", tmp_path).run([sys.executable, "-c", code, "$HOME; x"], 60)
    assert done.stdout == "$HOME; x ''\n"


def test_one_that_hangs(tmp_path: Path):
    with pytest.raises(BuildError, match=r"^sleep did not end within 0\.05 s: sleep 60$"):
        Commands(tmp_path / "log", tmp_path).run(["sleep", "60"], 0.05)


def test_one_that_is_not_there(tmp_path: Path):
    with pytest.raises(BuildError, match=r"^/none/x cannot be started: No such file or directory$"):
        Commands(tmp_path / "log", tmp_path).run(["/none/x"], 60)
