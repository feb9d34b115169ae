"""Logs that people have: one run or many, both outputs in one file or not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stepgrid.model.figures import ParseError, PrintedStep
from stepgrid.plugins.driver import StandaloneOutput
from stepgrid.plugins.drivers import driver

HEAD = """RocksDB:    version {version}
Date:       Sat Nov 21 18:08:10 2026
Initializing RocksDB Options from the specified file
Keys:       20 bytes each (+ 0 bytes user-defined timestamp)
Values:     400 bytes each (200 bytes after compression)
DB path: [db]
"""
RESULT = "{name:<12} :       4.000 micros/op {qps} ops/sec;   15.7 MB/s\n"
STATS = (
    "\n** DB Stats **\nUptime(secs): {uptime:.1f} total, 1.0 interval\nInterval stall: 00:00:0.000 H:M:S, 0.0 percent\n"
)
LINE = (
    "2026/11/21-18:08:10  ... thread {client}: (5,{done}) ops and (5.0,5.0) ops/second in (1.000000,{at:.6f}) seconds\n"
)


def read(path: Path) -> list[PrintedStep]:
    reader = driver("db_bench")
    assert isinstance(reader, StandaloneOutput)
    return list(reader.printed(path))


def written(folder: Path, *parts: str, name: str = "a.log") -> Path:
    path = folder / name
    path.write_text("".join(parts))
    return path


def test_runs_one_after_the_other(tmp_path: Path) -> None:
    """Each has its own version and its own statistics."""
    first = HEAD.format(version="6.29.5") + RESULT.format(name="fillseq", qps=1000) + STATS.format(uptime=3.0)
    second = HEAD.format(version="9.9.3") + RESULT.format(name="overwrite", qps=2000)
    found = read(written(tmp_path, first, second))
    assert [(step.name, step.figures.metrics["qps"], step.figures.facts["version"]) for step in found] == [
        ("fillseq", 1000, "6.29.5"),
        ("overwrite", 2000, "9.9.3"),
    ]
    assert [step.figures.metrics.get("uptime_seconds") for step in found] == [3.0, None]


def test_speedb(tmp_path: Path) -> None:
    """Its 2.8 is no RocksDB from before 6.0, where clients share the time of an operation."""
    command = "./db_bench --benchmarks=overwrite,stats --threads=4\n"
    own = HEAD.replace("RocksDB:    version", "Speedb:     version").format(version="2.8")
    first = HEAD.format(version="9.9.3") + RESULT.format(name="fillseq", qps=1000)
    _, second = read(written(tmp_path, first, command, own, RESULT.format(name="overwrite", qps=2000)))
    assert (second.figures.facts.get("version"), second.figures.facts["fork"]) == (None, "Speedb: version 2.8")
    assert second.figures.metrics["usec_per_op"] == 4.0


def test_several_benchmarks_of_one_run(tmp_path: Path) -> None:
    """What a client says, and the statistics with it, are of the benchmark that is then under way."""
    parts = (
        HEAD.format(version="9.9.3"),
        LINE.format(client=0, done=5, at=1.0),
        STATS.format(uptime=1.0),
        RESULT.format(name="overwrite", qps=1000),
        LINE.format(client=0, done=48, at=2.0),
        STATS.format(uptime=5.0),
        LINE.format(client=1, done=9, at=2.0),
        STATS.format(uptime=4.0),
        "DB path: [db]\n",
        RESULT.format(name="readwhilewriting", qps=2000),
        STATS.format(uptime=8.0),
    )
    overwrite, reads = read(written(tmp_path, *parts))
    assert (overwrite.figures.metrics["uptime_seconds"], reads.figures.metrics["uptime_seconds"]) == (4.0, 8.0)
    assert [each.second for each in overwrite.figures.rates] == [1.0]
    assert [(each.client, each.second) for each in reads.figures.rates] == [(0, 2.0), (1, 2.0)]
    assert reads.figures.metrics["writer_qps"] == 24.0
    assert overwrite.figures.facts["also_ran"] == "readwhilewriting"


def test_rates_over_time_are_those_of_the_last_benchmark(tmp_path: Path) -> None:
    path = written(tmp_path, RESULT.format(name="fillseq", qps=1), RESULT.format(name="overwrite", qps=2))
    (tmp_path / "a.log.r.csv").write_text("secs_elapsed,interval_qps\n1,5\n2,6\n")
    assert [step.figures.qps for step in read(path)] == [(), [(1.0, 5.0), (2.0, 6.0)]]


def test_a_report_file_by_itself(tmp_path: Path) -> None:
    (tmp_path / "a.r.csv").write_text("secs_elapsed,interval_qps\n1,5\n2,6\n3,")
    (step,) = read(tmp_path / "a.r.csv")
    assert (step.name, step.figures.metrics, step.figures.qps) == ("report file", {}, [(1.0, 5.0), (2.0, 6.0)])


def test_a_step_of_ours(tmp_path: Path) -> None:
    path = written(tmp_path, RESULT.format(name="overwrite", qps=2), name="stdout")
    written(tmp_path, HEAD.format(version="9.9.3"), LINE.format(client=0, done=5, at=1.0), name="stderr")
    (tmp_path / "report.csv").write_text("secs_elapsed,interval_qps\n1,5\n")
    (step,) = read(path)
    assert (step.figures.facts["version"], step.figures.qps, len(step.figures.rates)) == ("9.9.3", [(1.0, 5.0)], 1)


def test_what_a_published_script_packs(tmp_path: Path) -> None:
    """It prints its command above, with the clients that releases before 6.0 need for the time of an operation."""
    command = "/usr/bin/numactl --interleave=all ./db_bench --benchmarks=overwrite,stats --threads=4 --duration=5\n"
    text = command + HEAD.format(version="5.18") + RESULT.format(name="overwrite", qps=1000)
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(text.encode()))
    assert read(tmp_path / "a.log.gz")[0].figures.metrics["usec_per_op"] == 16.0


def test_a_run_that_was_cut_off(tmp_path: Path) -> None:
    text = HEAD.format(version="9.9.3") + LINE.format(client=0, done=5, at=1.0) + STATS.format(uptime=1.0)
    (step,) = read(written(tmp_path, text))
    assert (step.name, step.figures.metrics) == ("no result", {"uptime_seconds": 1.0})


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        read(tmp_path / "a.log")
    assert str(caught.value) == f"there is no file {tmp_path / 'a.log'}"


@pytest.mark.parametrize("name", ["a.log", "a.gz"])
def test_something_else(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"x") if name.endswith(".gz") else b"\xff\x00 sysbench 1.0.20\n")
    with pytest.raises(ParseError) as caught:
        read(tmp_path / name)
    assert str(caught.value) == (
        f"{tmp_path / name} is no output of db_bench: it has no result line (`NAME : … micros/op … ops/sec`), no "
        "compaction table (`** Compaction Stats`), no `** DB Stats **` and no STATISTICS"
    )


def test_a_summary_of_published_scripts(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        read(written(tmp_path, "ops_sec\tmb_sec\tlsm_sz\n1\t2\t16GB\n", name="sum.byrx.txt"))
    assert str(caught.value) == (
        f"{tmp_path / 'sum.byrx.txt'} is no output of db_bench: it is a summary of published scripts "
        f"(`stepgrid import db_bench {tmp_path}` takes such)"
    )


def test_a_file_that_was_cut_off(tmp_path: Path) -> None:
    (step,) = read(written(tmp_path, RESULT.format(name="overwrite", qps=2), "Uptime(secs): 12"))
    assert step.figures.warnings == ("the file ends in the middle of a line, which is left out",)


def test_a_histogram_without_its_buckets(tmp_path: Path) -> None:
    lines = (
        "Microseconds per read:",
        "Count: 5 Average: 1.0000  StdDev: 0.10",
        "Min: 1  Median: 1.0000  Max: 3",
        "Percentiles: P50: 1.00 P75: 2.00 P99: 2.00 P99.9: 2.00 P99.99: 3.00",
    )
    (step,) = read(written(tmp_path, RESULT.format(name="readrandom", qps=2), "".join(f"{line}\n" for line in lines)))
    assert (step.figures.metrics["p50_us"], step.figures.histograms) == (1.0, [])


def test_decimal_commas_are_no_numbers(tmp_path: Path) -> None:
    """db_bench prints none; an editor may have made them. What is left is not misread."""
    text = RESULT.format(name="overwrite", qps=2) + "\n** Compaction Stats [default] **\n"
    table = "Level Files Size Score\n-----\n L0 1/0 29,65 MB 0.2\n Sum 1/0 29,65 MB 0.0\n"
    (step,) = read(written(tmp_path, text, table))
    assert step.figures.metrics.keys() & {"lsm_bytes", "l0_bytes", "lsm_files"} == {"lsm_files"}


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"no gzip")
    for path, why in ((tmp_path, "Is a directory"), (tmp_path / "a.gz", "Not a gzipped file (b'no')")):
        with pytest.raises(ParseError) as caught:
            read(path)
        assert str(caught.value) == f"{path} cannot be read: {why}"
