"""The driver and the engine with a real db_bench."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.figures import Figures
from stepgrid.plugins.driver import Context
from stepgrid.plugins.engine import Run
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import driver, engine
from stepgrid_databases.drivers.db_bench.benchmarks import TIMED

DRIVER, ENGINE = driver("db_bench"), engine("rocksdb")
OPTIONS = {"write_buffer_size": 1 << 20, "cache_size": 8 << 20, "statistics": True, "compression_type": "none"}
KEYS = 50_000


@pytest.fixture
def run(db_bench: Path) -> Run:
    def ran(program: str, argv: Any) -> tuple[str, str]:
        assert program == "db_bench"
        found = subprocess.run([str(db_bench), *argv], capture_output=True, text=True, timeout=60)
        return found.stdout, found.stderr

    return ran


@pytest.fixture
def step(db_bench: Path, tmp_path: Path) -> Callable[..., Figures]:
    def measured(name: str, **settings: Any) -> Figures:
        folder = tmp_path / name
        folder.mkdir()
        given = DRIVER.settings_model().model_validate({"keys": KEYS, **settings}).model_dump(mode="json")
        context = Context({"db_bench": (str(db_bench),)}, "", tmp_path / "db", folder, seed=7)
        made = DRIVER.command(given, OPTIONS, context)
        with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
            subprocess.run(made.argv, stdout=stdout, stderr=stderr, timeout=60, check=True)
        return DRIVER.parse(folder, given)

    return measured


def test_a_load_reads_under_writes_and_an_overwrite(step: Callable[..., Figures]) -> None:
    load = step("load", benchmarks=("fillseq", "stats"), fresh=True)
    reads = step("reads", benchmarks=("readwhilewriting", "stats"), threads=2, duration=2.0, write_rate=1 << 20)
    write = step("write", benchmarks=("overwrite", "stats"), duration=2.0)

    assert load.metrics["operations"] == KEYS
    # so short a load says 0.01 GB: the counters say it exactly, of keys and values with what a batch adds
    assert load.metrics["keys_written"] == KEYS
    assert KEYS * 116 < load.metrics["ingest_bytes"] < KEYS * 140
    assert load.metrics["ingest_bytes"] % KEYS == 0
    assert 0 < load.metrics["write_amplification"] <= 1.1
    assert reads.metrics["found_pct"] == 100
    assert reads.metrics["seconds"] == pytest.approx(2.0, abs=0.5)
    assert reads.metrics["qps"] * reads.metrics["seconds"] == pytest.approx(reads.metrics["operations"], rel=0.01)
    assert 0 < reads.metrics["p50_us"] <= reads.metrics["p99_us"] <= reads.metrics["max_us"]
    assert "includes the background writer" in reads.facts["qps_over_time"]
    assert len(reads.qps) in (1, 2, 3)
    assert sum(rate for _, rate in write.qps) <= 1.01 * write.metrics["operations"]
    for found in (load, reads, write):
        assert found.metrics.keys() <= METRICS.keys()
        assert found.facts["version"]


def test_steps_without_operations(step: Callable[..., Figures]) -> None:
    step("load", benchmarks=("fillseq",), fresh=True)
    found = step("levels", benchmarks=("levelstats", "compact", "levelstats", "stats"))
    assert "qps" not in found.metrics
    assert found.metrics["lsm_files"] >= 1
    assert list(found.qps) == []


def test_flags_of_the_driver_and_its_benchmarks_exist(run: Run) -> None:
    options = ENGINE.catalogue(run)
    assert set(DRIVER.reserved) <= set(options)
    assert {"histogram", "stats_interval_seconds", "stats_per_interval", "report_interval_seconds"} <= set(options)
    assert (options["num"].type, options["num"].default) == ("int64", "1000000")
    assert (options["db"].type, options["db"].default) == ("string", "")
    assert "undefok" not in options
    assert "skew_labels" not in options
    assert {"overwrite", "readrandom", "seekrandom", "readwhilewriting"} <= TIMED
    assert {"overwrite", "readrandom", "seekrandom"} <= set(options["benchmarks"].default.split(","))


def test_what_the_binary_says_it_is(run: Run) -> None:
    found = ENGINE.identify(run)
    assert found.version.count(".") == 2
    assert found.assertions is any("Assertions are enabled" in warning for warning in found.warnings)
    assert ("cache_type" in ENGINE.catalogue(run)) == ("cache_type" in ENGINE.capabilities(found.version))
