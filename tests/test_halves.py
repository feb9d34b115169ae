"""The second half of `.ci/run` does what the first skipped, and no more; the last line counts each test once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = """\
import os, pytest
full = os.environ.get("FULL")

@pytest.mark.parametrize("text", ["a::b c", "[d]"])
def test_needs_a_tool(text): full or pytest.skip("no tool")

def test_needs_what_nobody_has(): pytest.skip("nobody has it")
def test_is_done_once(): assert not full
def test_fails(): assert full
"""


def run(folder: Path, *words: str, **env: str) -> tuple[int, list[str]]:
    options = ("-n2", "-c/dev/null", f"--rootdir={folder}", "--import-mode=importlib", "-pno:cacheprovider")
    argv = [sys.executable, "-m", "pytest", "-ptests.conftest", *options, *words, str(folder)]
    env |= {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return done.returncode, [line.strip("= ") for line in done.stdout.splitlines()]


def test_the_second_half_does_what_the_first_skipped(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TESTS)
    file = f"{tmp_path}/half"
    status, (*_, last) = run(tmp_path, "--first-half", file)
    assert status == 1
    assert re.match(r"1 failed, 1 passed, 3 skipped in ", last)
    status, (*_, own, first, second, failed, both) = run(tmp_path, "--second-half", file, FULL="1")
    assert status == 0, "it did neither what failed nor what passed again"
    assert re.match(r"2 passed, 1 skipped in ", own)
    assert re.match(r"first half, as an ordinary user: 1 failed, 1 passed, 3 skipped in .+; exit status 1$", first)
    assert re.match(r"second half, what that skipped: 2 passed, 1 skipped in .+; exit status 0$", second)
    assert failed == "FAILED test_a.py::test_fails (first half)"
    assert re.match(r"1 failed, 3 passed, 1 skipped in [\d.]+s \([\d:]+\)$", both)
