"""Which spec `make demo` runs on machines with and without Debian's packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]
PYTHON_ALONE = "SQLite is measured instead, which needs Python alone"


@pytest.fixture
def folder(tmp_path):
    """A checkout's specs, outputs of its own, and an empty folder of programs."""
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    (tmp_path / "bin").mkdir()
    return tmp_path


def demo(folder):
    environment = {**os.environ, "PATH": str(folder / "bin"), "PYTHONPATH": str(ROOT / "compiler")}
    argv = [sys.executable, str(ROOT / "scripts" / "demo_spec.py")]
    return subprocess.run(argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def test_without_apt_it_is_sqlite_and_one_line_says_so(folder):
    done = demo(folder)
    said = f"demo: no Debian packages of RocksDB here (apt-get is not on PATH): {PYTHON_ALONE}\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "specs/quickstart-sqlite.yaml\n", said)


@needs("apt-get")
def test_where_a_build_fails_it_is_sqlite_and_the_reason_is_at_hand(folder):
    """apt-get without dpkg: no build can be made."""
    (folder / "bin" / "apt-get").symlink_to("/usr/bin/apt-get")
    done = demo(folder)
    assert (done.returncode, done.stdout) == (0, "specs/quickstart-sqlite.yaml\n")
    said = f"no Debian packages of RocksDB here (`stepgrid builds specs/quickstart.yaml` says why): {PYTHON_ALONE}"
    assert done.stderr.splitlines()[-1] == f"demo: {said}"
