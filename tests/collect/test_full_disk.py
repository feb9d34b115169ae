"""Tables and a report that find no room are made with the reserve; without one they are a sentence, no traceback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.host.files import write_json
from stepgrid.store.active_run import DISK_HINT, is_system_refusal
from tests.needs import needs
from tests.run.conftest import ROOT
from tests.run.test_disk import INSIDE_FULL
from tests.summarize.synthetic import Experiment


@needs("small disks")
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("verb", ["collect", "summarize"])
def test_tables_and_report_without_room(tmp_path: Path, verb: str, kept: bool) -> None:
    found = Experiment(tmp_path, loads=1)
    found.add_build("rocksdb-7.8.3")
    found.add_load("rocksdb-7.8.3", 0)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    argv = [sys.executable, "-m", "stepgrid.pipeline", "collect", found.plan.digest, "--partial"]
    subprocess.run(argv, cwd=tmp_path, env=env, check=True)
    argv[3] = verb
    inside = ["unshare", "-Urm", sys.executable, "-c", INSIDE_FULL, "kept" if kept else "none", *argv]
    done = subprocess.run(inside, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    free = r"(0 B|4 KiB) of 64 MiB free"  # a block that is too small for a table
    message = (
        "" if kept else rf"{verb}: the disk of {tmp_path.resolve()}/outputs is full: {free}; {re.escape(DISK_HINT)}\n"
    )
    assert done.returncode == (0 if kept else 1)
    assert re.fullmatch(message, done.stderr)


@pytest.mark.parametrize(("verb", "file"), [("collect", "tables/steps.parquet"), ("summarize", "index.html")])
def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path, verb: str, file: str) -> None:
    """As where the disk fails (EIO): no full disk, and no traceback."""
    found = Experiment(tmp_path, loads=1)
    found.add_build("rocksdb-7.8.3")
    found.add_load("rocksdb-7.8.3", 0)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    argv = [sys.executable, "-m", "stepgrid.pipeline", "collect", found.plan.digest, "--partial"]
    subprocess.run(argv, cwd=tmp_path, env=env, check=True)
    path = found.store.root / "summary" / found.plan.digest / file
    path.unlink(missing_ok=True)
    (path / "inside").mkdir(parents=True)
    argv[3] = verb
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{verb}: the system refused: [Errno 21] Is a directory: ")
    assert len(done.stderr.splitlines()) == 1


def test_what_duckdb_could_not_write_is_a_refusal_of_the_system(tmp_path: Path) -> None:
    import duckdb

    with pytest.raises(duckdb.Error) as found:
        duckdb.sql(f"COPY (SELECT 1) TO '{tmp_path}/none/a.parquet'")
    assert is_system_refusal(found.value)
    assert not is_system_refusal(ValueError())


def test_what_could_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.json" / "inside").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        write_json(tmp_path / "a.json", {}, durable=False)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
