"""How long planning takes, in CPU seconds, beside what it cannot do without: `.venv/bin/python bench/compile.py`.

Budgets (docs/speed.md): check, expand, plan 6 x the ingredients; check of the quickstart 3.5 x bare imports.

Takes the number of cells roughly (default 10,000): a grid of five builds and six axes over the library's sequence. With
100000 it also says whether the memory stays below 1 GB."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median
from time import process_time

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import measured  # noqa: E402  # the checkout's own
from stepgrid.language.expressions import evaluate  # noqa: E402
from stepgrid.plan.assembly import compile_spec  # noqa: E402
from stepgrid.store import plans  # noqa: E402
from stepgrid_databases.drivers.db_bench.settings import DbBenchSettings  # noqa: E402

HOST = {"cpu": "any", "cores": 2}
SPEC = """\
title: a large grid
include: [{library}/rocksdb.yaml, {library}/db_bench.yaml]
builds: {{rocksdb: {{engine: rocksdb, versions: [7.8.3, 8.5.4, 9.9.3, 9.10.0, 10.4.2], source: {{system: db_bench}}}}}}
options: [leveled, {{cache_size: 256MiB}}]
workload: db_bench.sequence
steps: [fillseq, {{checkpoint: loaded}}, readww, overwrite]
params: {{keys: 1M, duration: 1s, write_rate: 2MiB}}
sweep:
  fanout: {{option: max_bytes_for_level_multiplier, values: [4, 6, 8, 10, 16]}}
  bits: {{option: bloom_bits, values: [5, 6, 8, 10, 12], from: loaded}}
  cache: {{from: loaded, points: {{lru: {{options: lru}}, hyper: {{options: hyper}}}}}}
  jobs: {{option: max_background_jobs, values: {jobs}, from: loaded}}
  threads: {{param: threads, values: [1, 2, 4, 8, 10], from: loaded}}
  rate: {{param: write_rate, values: [1MiB, 2MiB], from: loaded}}
"""
RUNS = 5  # of which the median counts
CELLS_PER_JOB = 2_500
MOST_FILES = 20_000  # cells that results are made up for
GIGABYTE = 1_000_000_000
NOTHING = "nothing to do: "
BARE = "import argparse, pydantic, jinja2.sandbox, ruamel.yaml; pydantic.BaseModel"


def main() -> None:
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    gc.set_threshold(1_000_000)  # as the commands
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        jobs = list(range(1, max(1, cells // CELLS_PER_JOB) + 1))
        Path("large.yaml").write_text(SPEC.format(library=ROOT / "specs/library", jobs=jobs), encoding="utf-8")
        ingredients = _show(*_planning())
        _memory()
        if cells <= MOST_FILES:
            measured.make("large.yaml")
            _line("nothing to do", _command(["run", "large.yaml"], Path(folder), NOTHING), ingredients)
    bare = _child(["-c", BARE], ROOT)
    print(f"\nsmall commands, CPU seconds (bare imports in this run: {bare:.2f} s)")
    for name, arguments in (("--help", ["--help"]), ("check quickstart", ["check", "specs/quickstart.yaml"])):
        _line(f"stepgrid {name}", _command(arguments, ROOT), bare, "bare imports")


def _planning() -> tuple[int, float, float, float, float]:
    """Cells; CPU seconds of compiling, writing, asking again, and of the ingredients."""
    compile_spec("large.yaml", None, HOST)  # the first time imports
    compiled = _seconds(lambda: compile_spec("large.yaml", None, HOST))
    plan = compile_spec("large.yaml", None, HOST)
    folders = (Path(f"plan{number}") for number in count())
    written = _seconds(lambda: plans.write(plan, next(folders)))
    again = _seconds(lambda: plans.write(compile_spec("large.yaml", None, HOST), Path("plan0")))
    return len(plan.cells), compiled, written, again, _seconds(lambda: _ingredients(len(plan.cells)))


def _ingredients(cells: int) -> None:
    """What any compiler of specs does at least: reads the YAML; per cell an expression, a model, a text, a digest."""
    from ruamel.yaml import YAML

    YAML(typ="safe").compose(Path("large.yaml").read_text(encoding="utf-8"))
    for cell in range(cells):
        options = {f"option_{n}": n for n in range(32)}
        settings = DbBenchSettings.model_validate({"benchmarks": ["readrandom"], "keys": 1000 + cell})
        options["derived"] = evaluate("keys // 10 if keys > 100 else 1", {"keys": settings.keys})
        hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()


def _show(cells: int, compiled: float, written: float, again: float, ingredients: float) -> float:
    print(f"{cells:,} cells, CPU seconds (bare ingredients in this run: {ingredients:.2f} s)")
    rows = {"check, expand, plan": compiled, "write the manifests": written, "both": compiled + written}
    for name, seconds in {**rows, "the same spec again": again}.items():
        _line(name, seconds, ingredients)
    return ingredients


def _line(name: str, seconds: float, bare: float, of: str = "ingredients") -> None:
    print(f"{name:44}{seconds:7.2f} s {seconds / bare:7.2f} x {of}")


def _memory() -> None:
    """The peak of this process, which holds several plans of that size while it measures."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{'peak memory':44}{peak / 1e6:7.0f} MB {'' if peak < GIGABYTE else '  MORE THAN 1 GB'}")


def _seconds(action: Callable[[], object]) -> float:
    found = []
    for _ in range(RUNS):
        gc.collect()  # a command compiles once: it has no garbage of an earlier time
        before = process_time()
        action()
        found.append(process_time() - before)
    return median(found)


def _command(arguments: list[str], folder: Path, says: str = "") -> float:
    return _child(["-m", "stepgrid.cli", *arguments], folder, says)


def _child(arguments: list[str], folder: Path, says: str = "") -> float:
    found = []
    for _ in range(RUNS):
        before = _children()
        ended = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        found.append(_children() - before)
        assert ended.stdout.startswith(says), ended.stdout
    return median(found)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
