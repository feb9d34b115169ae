"""The published files, made again from what they were made of."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.plugins.importer import ImportedStep
from stepgrid.plugins.metrics import METRICS
from stepgrid.transfer.published import PublishedFolder, read_folder


@pytest.fixture
def folder(published: Callable[[str], Path]) -> Path:
    return published("db_bench")


def steps(found: PublishedFolder) -> list[ImportedStep]:
    return [step for stage in found.planned.stages.values() for step in stage]


def step(found: PublishedFolder, build: str, name: str) -> ImportedStep:
    return next(each for each in steps(found) if (each.build, each.step) == (build, name))


def test_published_files_are_byte_equal(folder: Path) -> None:
    made = read_folder("db_bench", folder).summaries
    names = ["summary.tsv", "sum.iobuf.gcc.txt", "csum.iobuf.gcc.csv", "sum.byrx.dop1.txt.sdev"]
    assert {name: made[name] for name in names} == {name: (folder / name).read_text() for name in names}


def test_a_cut_comes_from_the_summary_alone(folder: Path, tmp_path: Path) -> None:
    """Its name from the folder and from the builds: nothing of what was cut is there."""
    place = tmp_path / "res.iobuf"
    place.mkdir()
    shutil.copy(folder / "summary.tsv", place)
    made = read_folder("db_bench", place).summaries
    for name in ("sum.iobuf.gcc.txt", "csum.iobuf.gcc.csv"):
        assert made[name] == (folder / name).read_text()
    assert sorted(name for name in made if name.startswith("sum.iobuf")) == [
        "sum.iobuf.clang.lto.txt",
        "sum.iobuf.clang.txt",
        "sum.iobuf.gcc.txt",
    ]


def test_from_10_3_on_columns_hold_something_else(folder: Path) -> None:
    found = read_folder("db_bench", folder)
    before = step(found, "10.2.clang.lto", "overwriteandwait.t1.s0").figures.metrics
    after = step(found, "10.3.clang.lto", "overwriteandwait.t1.s0").figures.metrics
    names = ("compaction_seconds", "compaction_cpu_seconds", "blob_read_bytes")
    assert [before.get(name) for name in names] == [5696, 2892, 0]
    assert [after.get(name) for name in names] == [5686, None, 0]
    beside = [each for each in found.differences if each.row == "10.3.clang.lto overwriteandwait.t1.s0"]
    assert [(each.figure, each.legacy, each.clean) for each in beside] == [
        ("w_amp", "12.5", ""),
        ("c_wsecs", "195", "5686"),
        ("c_csecs", "5686", ""),
        ("b_rgb", "232", "0"),
        ("b_wgb", "0", ""),
        ("Nstall", "", ""),
    ]


def test_two_glued_latencies_are_none(folder: Path) -> None:
    found = read_folder("db_bench", folder)
    glued = step(found, "7.0.gcc", "overwriteandwait.t1.s0")
    assert "max_us" not in glued.figures.metrics
    assert [each.legacy for each in found.differences if each.figure == "pmax" and each.row.startswith("7.0.gcc")] == [
        "85606544"
    ]


def test_repeats_are_loads(folder: Path) -> None:
    found = read_folder("db_bench", folder)
    repeats = [each for each in steps(found) if (each.build, each.step) == ("7.9.1", "readrandom.t1")]
    assert [(each.load, each.figures.metrics["qps"]) for each in repeats] == [(0, 182675), (1, 184087), (2, 180090)]
    assert {each.labels["workload"] for each in repeats} == {"byrx.dop1"}
    spread = [each for each in found.differences if each.figure == "stddev" and each.row == "readrandom.t1"]
    assert [(each.file, each.legacy, each.clean) for each in spread] == [("sum.byrx.dop1.txt.sdev", "1655.0", "2027.0")]


def test_every_metric_is_one_of_ours(folder: Path) -> None:
    assert {name for each in steps(read_folder("db_bench", folder)) for name in each.figures.metrics} <= METRICS.keys()
