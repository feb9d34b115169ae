"""A real db_bench, made once for all tests by the project's own build; and checkouts that begin with it."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from stepgrid.build.record import programs
from stepgrid.store.store import Store
from tests import forked
from tests.integration import servers
from tests.needs import require
from tests.waiting import LONG

ROOT = Path(__file__).resolve().parents[2]
BUILD = "{engine: rocksdb, version: 7.8.3, source: {debian: rocksdb-tools, suite: bookworm}}"
SPEC = f"""\
title: "an experiment"
builds:
  rocksdb: {BUILD}
options: [{{write_buffer_size: 1MiB, compression_type: none, cache_size: 32MiB}}]
steps:
  - {{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null, threads: 1}}
  - checkpoint: loaded
  - {{name: readrandom, kind: db_bench, benchmarks: [readrandom]}}
params: {{keys: 20k, duration: 1s}}
sweep:
  bits:
    from: loaded
    points:
      small: {{options: {{block_cache_trace_max_trace_file_size_in_bytes: 1000000}}}}
      large: {{options: {{block_cache_trace_max_trace_file_size_in_bytes: 2000000}}}}
repeat: 2
report: {{base: {{bits: small}}}}
"""


@dataclass(frozen=True, slots=True)
class Lab:
    """A folder where somebody works: specs, and outputs/."""

    folder: Path

    @property
    def store(self):
        return Store(self.folder / "outputs")

    def write(self, text, name="spec.yaml"):
        (self.folder / name).write_text(text, encoding="utf-8")

    def argv(self, *arguments):
        return [sys.executable, "-m", "stepgrid.cli", *arguments]

    def snake(self, *arguments):
        snakefile = ["--snakefile", str(ROOT / "Snakefile")]
        return [sys.executable, "-m", "snakemake", *snakefile, "--config", "spec=spec.yaml", *arguments]

    def run(self, *arguments, timeout=240, **env):
        return self.execute(self.argv("run", "spec.yaml", *arguments), timeout, **env)

    def execute(self, argv, timeout=240, **env):
        if argv[0] == sys.executable and "LD_PRELOAD" not in env:
            return forked.execute(argv, self.folder, _env(env), timeout)
        return subprocess.run(
            argv, cwd=self.folder, env=_env(env), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=timeout, check=False,
        )  # fmt: skip

    def start(self, argv, **env):
        """In a session of its own, as a terminal would start it."""
        with (self.folder / "screen").open("a") as screen:
            return subprocess.Popen(
                argv, cwd=self.folder, env=_env(env), stdin=subprocess.DEVNULL, stdout=screen, stderr=screen, text=True,
                start_new_session=True,
            )  # fmt: skip

    @property
    def screen(self):
        return (self.folder / "screen").read_text()

    def results(self):
        """Every complete result, and its inode: a result is never replaced."""
        found = (self.folder / "outputs" / "results").glob("*/*/result.json")
        return {str(path.parent.relative_to(self.folder / "outputs" / "results")): path.stat().st_ino for path in found}

    def steps(self, results):
        """The names of the steps that some results measured, sorted."""
        folder = self.folder / "outputs" / "results"
        return sorted(
            step["name"] for r in results for step in json.loads((folder / r / "result.json").read_text())["steps"]
        )

    def processes(self, word=""):
        """Whatever still runs in this folder or works on its files; with that word in its command line."""
        here = [process for process in psutil.process_iter() if _works_in(process, str(self.folder))]
        return [process for process in here if not word or word in words(process)]


def words(process):
    """Its command line; nothing of one that has just ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def measuring(lab):
    """db_bench reading, that is after the load."""
    return [each for each in lab.processes() if any("--benchmarks=readrandom" in word for word in words(each))]


def _works_in(process, folder):
    try:
        if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
            return False
        return process.cwd().startswith(folder) or any(folder in word for word in words(process))
    except psutil.Error:
        return False


def _env(more):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "compiler"), "COLUMNS": "200", **more}


def _made(factory, name, *specs):
    """outputs/ with the builds of specs, made at once: one of the processes that share the tests makes them for all."""
    root = factory.getbasetemp()
    lab = Lab((root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / name)
    with lab.folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not lab.folder.exists():
            lab.folder.mkdir()
            for number, spec in enumerate(specs):
                lab.write(spec, f"{number}.yaml")
            made = [lab.start(lab.argv("builds", f"{number}.yaml", "--yes")) for number in range(len(specs))]
            assert [each.wait(LONG) for each in made] == [0] * len(specs), lab.screen
    return lab.folder / "outputs"


@pytest.fixture(scope="session")
def depot(tmp_path_factory):
    """outputs/ with the build of SPEC in it."""
    require("apt")
    return _made(tmp_path_factory, "depot", SPEC)


@pytest.fixture(scope="session")
def server_builds(tmp_path_factory):
    """outputs/builds with PostgreSQL, MariaDB and MySQL in it."""
    require("apt", "maven")
    return _made(tmp_path_factory, "servers", *servers.SPECS) / "builds"


@pytest.fixture(scope="session")
def db_bench(depot):
    """A db_bench that runs here, as one file."""
    (build,) = (depot / "builds").iterdir()
    words = " ".join(f"'{word}'" for word in programs(build)["db_bench"])
    script = depot.parent / f"db_bench.{os.getpid()}"
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o755)
    return script


@pytest.fixture
def lab(depot, tmp_path):
    folder = tmp_path / "lab"
    (folder / "outputs").mkdir(parents=True)
    shutil.copytree(depot / "builds", folder / "outputs" / "builds", copy_function=os.link, symlinks=True)
    found = Lab(folder)
    found.write(SPEC)
    yield found
    left = found.processes()
    for process in left:
        process.kill()
    assert not left, f"processes were left behind: {left}"
