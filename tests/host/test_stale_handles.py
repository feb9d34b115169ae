"""A handle that went stale is found again by its path; other errors, and what stays stale, are raised."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.cli.shared import internal_error
from stepgrid.host.files import TRIES, retry_stale
from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]
STALE = OSError(errno.ESTALE, "Stale file handle", "outputs/plans")
CODE = """\
import os, sys
from pathlib import Path
from stepgrid.host import files
from stepgrid.store.folders import below
folder, wrong = Path(sys.argv[1]), 0
for _ in range(2000):
    wrong += files.read_json(folder / "a.json") != {"a": 1} or below(folder) != [folder / "b"]
print(wrong)
"""


def failing(*errors: Exception) -> list[int]:
    """What a look says at last that first fails so."""
    left = [*errors]

    def look() -> list[int]:
        if left:
            raise left.pop(0)
        return [1]

    return retry_stale(look)


def test_what_is_stale_is_looked_for_again() -> None:
    assert failing(*[STALE] * (TRIES - 1)) == [1]
    assert failing(RuntimeError('IO Error: Cannot open file "a.parquet": Stale file handle')) == [1]
    with pytest.raises(OSError, match="Stale file handle"):
        failing(*[STALE] * TRIES)
    with pytest.raises(FileNotFoundError):
        failing(FileNotFoundError(errno.ENOENT, "no such file"))


@needs("cc")
def test_records_are_read_where_handles_go_stale(tmp_path: Path) -> None:
    """One of two thousand calls: a record that could not be read would be taken for a damaged one."""
    made, shared = tmp_path / "stale.so", tmp_path / "shared"
    (shared / "b").mkdir(parents=True)
    (shared / "a.json").write_text('{"a": 1}')
    source = str(ROOT / "bench" / "stale_handles.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", str(made), source, "-ldl"], check=True)
    injected = {"LD_PRELOAD": str(made), "STALE_BELOW": str(shared), "STALE_ONE_OF": "2000"}
    env = {**os.environ, **injected, "PYTHONPATH": str(ROOT / "compiler")}
    argv = [sys.executable, "-c", CODE, str(shared)]
    done = subprocess.run(argv, env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_run_that_meets_one_says_what_to_do() -> None:
    hint = "another machine replaced it, or its file server restarted: run the same command again"
    assert internal_error.sentence("run", STALE) == (
        f"`stepgrid run` stopped: outputs/plans: stale file handle\n   = {hint}"
    )
    store = Store()
    assert run_request.refused(store, STALE) == (
        f"{store.root.absolute()} could not be read: Stale file handle (outputs/plans); {hint}"
    )
