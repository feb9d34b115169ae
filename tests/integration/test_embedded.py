"""Embedded engines by the shipped spec at its smallest, and what their classes of durability ask of the device."""

from __future__ import annotations

import os
import subprocess

import duckdb
import pytest

from stepgrid.build.record import programs
from tests.integration.conftest import ROOT, Lab
from tests.needs import needs

pytestmark = [needs("apt", "cargo"), pytest.mark.nightly]
SYNCED, UNSYNCED = {"fjall", "lmdb", "redb", "rocksdb"}, {"fjall", "lmdb", "sled", "rocksdb", "leveldb"}
WRITES = 200
COUNTER = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static int syncs;
int fsync(int file) { __sync_fetch_and_add(&syncs, 1); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file); }
int fdatasync(int file) { __sync_fetch_and_add(&syncs, 1); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file); }
__attribute__((destructor)) static void say(void) { fprintf(stderr, "%d\\n", syncs); }
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = Lab(tmp_path_factory.mktemp("embedded"))
    text = (ROOT / "specs" / "embedded.yaml").read_text(encoding="utf-8")
    lab.write(text.replace("library/", f"{ROOT}/specs/library/"))
    lab.write(COUNTER, "counter.c")
    assert lab.execute(["cc", "-shared", "-fPIC", "-o", "counter.so", "counter.c", "-ldl"]).returncode == 0
    return lab


def test_all_engines_stand_in_one_report(lab: Lab) -> None:
    done = lab.run("--scale", "smoke", timeout=3000, STEPGRID_LOOK="0")
    assert done.returncode == 0, done.stdout + done.stderr
    (tables,) = lab.folder.glob("outputs/summary/*/tables")
    names = "axis_durability, build, step, qps > 0, coalesce(found_pct, 100)"
    rows = duckdb.sql(f"SELECT {names} FROM '{tables}/steps.parquet' WHERE measured").fetchall()
    for durability, builds in (("os", UNSYNCED), ("sync", SYNCED)):
        assert {row[1] for row in rows if row[:1] == (durability,) and row[2] == "overwrite"} == builds
    assert all(row[3:] == (True, 100) for row in rows if row[2] in ("readrandom", "overwrite"))


@pytest.mark.parametrize("engine", ["fjall", "lmdb", "redb"])
def test_a_sync_for_each_commit_or_for_several(lab: Lab, engine: str) -> None:
    alone, shared = syncs(lab, engine, "sync", threads=1), syncs(lab, engine, "group", threads=8)
    assert alone >= WRITES
    assert WRITES / 8 <= shared < 0.7 * alone
    assert syncs(lab, engine, "none" if engine == "redb" else "os", threads=1) < WRITES / 4


def syncs(lab: Lab, engine: str, durability: str, threads: int) -> int:
    """Count the syncs of some writes."""
    folder = lab.folder / f"{engine}.{durability}"
    folder.mkdir()
    (build,) = (build for build in lab.folder.glob("outputs/builds/*") if "kv_bench" in programs(build))
    words = [engine, "fillrandom", f"--db={folder}", f"--num={WRITES // threads}", f"--threads={threads}"]
    argv = [*programs(build)["kv_bench"], *words, f"--durability={durability}"]
    environment = {**os.environ, "LD_PRELOAD": str(lab.folder / "counter.so")}
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return int(done.stderr)
