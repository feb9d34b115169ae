from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WATCH = """
import atexit, gc, sys
searches = []
atexit.register(lambda: print("kept from the last search:", gc.get_freeze_count() > 10_000))
from stepgrid.cli import main
gc.collect()
gc.callbacks.append(lambda phase, info: searches.append(phase))
sys.argv[1:] = ["check", "specs/quickstart.yaml"]
main()
print("searches:", len(searches))
"""


def test_a_check_seldom_looks_for_garbage_and_never_at_its_end() -> None:
    done = subprocess.run([sys.executable, "-c", WATCH], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-2:] == ["searches: 0", "kept from the last search: True"], done.stderr


def test_a_search_begins_seldom() -> None:
    code = "import gc, sys; from stepgrid.cli import main; sys.argv[1:] = ['schema', 'spec']; main()"
    code += "; print(gc.isenabled(), gc.get_threshold()[0])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "True 1000000", done.stderr


def test_a_process_that_used_duckdb_says_nothing_at_its_end() -> None:
    code = "import sys; from stepgrid.cli import main; sys.argv[1:] = ['schema', 'spec']; main(); "
    code += "import duckdb; duckdb.connect().execute('SELECT 1')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
