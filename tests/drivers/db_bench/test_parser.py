"""Figures of a step's files, and of logs that people have."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from stepgrid.model.figures import ParseError, PrintedStep
from stepgrid.plugins.driver import StandaloneOutput
from stepgrid.plugins.registry import driver
from stepgrid_databases.drivers.db_bench.parser import (
    debt_figures,
    drain_figures,
    log_facts,
    measured_stall_share,
    measured_window,
    mix_sizes,
    read_log,
)

RESULT = "readrandom   :       3.523 micros/op 283840 ops/sec 0.705 seconds 200000 operations;   15.7 MB/s\n"
HISTOGRAM = """Microseconds per {kind}:
Count: {count} Average: 3.5231  StdDev: 51.14
Min: 0  Median: 1.8421  Max: 8089
Percentiles: P50: 1.84 P75: 3.53 P99: 5.98 P99.9: 28.21 P99.99: 3291.30
------------------------------------------------------
[       0,       1 ]    24922  12.461%  12.461% ##
"""


def _step(folder: Path, stdout: str, stderr: str = "") -> Path:
    (folder / "stdout").write_text(stdout)
    (folder / "stderr").write_text(stderr)
    return folder


def _parse(folder: Path, *benchmarks: str) -> dict[str, float]:
    return dict(driver("db_bench").parse(folder, {"benchmarks": list(benchmarks)}).metrics)


def test_an_end_without_a_result(tmp_path: Path) -> None:
    _step(tmp_path, "Keys:       16 bytes each\nDB path: [db]\n")
    with pytest.raises(ParseError) as caught:
        _parse(tmp_path, "overwrite", "stats")
    expected = f"{tmp_path / 'stdout'}: no result line of overwrite (`overwrite : … micros/op … ops/sec`)"
    assert str(caught.value) == expected


@pytest.mark.parametrize("end", range(10, len(RESULT) - len(";   15.7 MB/s\n")))
def test_half_a_result_line_is_none(end: int, tmp_path: Path) -> None:
    with pytest.raises(ParseError):
        _parse(_step(tmp_path, RESULT[:end]), "readrandom")


def test_no_output_file(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        _parse(tmp_path, "stats")
    path = tmp_path / "stdout"
    assert str(caught.value) == f"{path}: there is no such file, where db_bench's output was expected"


def test_a_step_that_counts_no_operations_is_no_error(tmp_path: Path) -> None:
    _step(tmp_path, "waitforcompaction(db): started\nwaitforcompaction(db): finished\n")
    assert _parse(tmp_path, "levelstats", "flush", "waitforcompaction", "levelstats") == {}


def test_one_kind_of_operation(tmp_path: Path) -> None:
    found = _parse(_step(tmp_path, RESULT + HISTOGRAM.format(kind="read", count=5)), "readrandom")
    assert {name: value for name, value in found.items() if name.endswith("_us")} == {
        "avg_us": 3.5231,
        "p50_us": 1.84,
        "p75_us": 3.53,
        "p99_us": 5.98,
        "p99_9_us": 28.21,
        "p99_99_us": 3291.30,
        "max_us": 8089,
    }


def test_kinds_of_operation_are_kept_apart(tmp_path: Path) -> None:
    both = HISTOGRAM.format(kind="read", count=5) + HISTOGRAM.format(kind="write", count=6)
    found = _parse(_step(tmp_path, RESULT + both), "readrandom")
    assert (found["read_p99_us"], found["write_p99_us"]) == (5.98, 5.98)
    assert "p99_us" not in found


def test_a_histogram_of_something_else_is_not_taken(tmp_path: Path) -> None:
    """Of the next benchmark, of the file reads, of no samples, or cut."""
    other = RESULT.replace("readrandom", "seekrandom") + HISTOGRAM.format(kind="seek", count=5)
    levels = "** Level 0 read latency histogram (micros):\n" + HISTOGRAM.format(kind="read", count=5)
    empty, cut = HISTOGRAM.format(kind="read", count=0), HISTOGRAM.format(kind="read", count=5)[:100]
    for text in (other, levels, empty, cut):
        assert "p50_us" not in _parse(_step(tmp_path, RESULT + text), "readrandom")


def test_interval_dumps_on_stderr_are_not_the_end_of_the_step(tmp_path: Path) -> None:
    _step(tmp_path, RESULT, "RocksDB:    version 7.8.3\nUptime(secs): 20.0 total, 20.0 interval\n")
    assert "uptime_seconds" not in _parse(tmp_path, "readrandom")


def test_cache_hits_need_lookups(tmp_path: Path) -> None:
    counters = "rocksdb.block.cache.miss COUNT : {}\nrocksdb.block.cache.hit COUNT : {}\n"
    assert _parse(_step(tmp_path, counters.format(1, 3)), "stats") == {"block_cache_hit_pct": 75}
    assert _parse(_step(tmp_path, counters.format(0, 0)), "stats") == {}


def test_warnings_come_once_each(tmp_path: Path) -> None:
    lines = "WARNING: Optimization is disabled: benchmarks unnecessarily slow\n"
    _step(tmp_path, lines + "WARNING: Snappy compression is not enabled\n", lines)
    found = driver("db_bench").parse(tmp_path, {"benchmarks": ["stats"]})
    assert found.warnings == (
        "Optimization is disabled: benchmarks unnecessarily slow",
        "Snappy compression is not enabled",
    )


def test_a_writer_whose_share_is_unknown(tmp_path: Path) -> None:
    _step(tmp_path, RESULT.replace("readrandom", "readwhilewriting"))
    found = driver("db_bench").parse(tmp_path, {"benchmarks": ["readwhilewriting"], "write_rate": None})
    assert found.facts == {"qps_over_time": "includes the background writer, which qps does not"}


AND_WAIT = ["overwrite", "flush", "levelstats", "waitforcompaction", "memstats", "stats"]
METRICS = {"seconds": 6.0, "uptime_seconds": 11.1}


@pytest.mark.parametrize(
    ("benchmarks", "seconds"),
    [
        (AND_WAIT, 5.1),
        (["levelstats", *AND_WAIT], 5.1),
        (["overwrite", "stats"], None),  # nothing is awaited
        (["overwrite", "stats", "waitforcompaction"], None),  # the statistics are of before
        (["flush", "overwrite", "waitforcompaction", "stats"], None),  # it was open before
        (["overwrite", "readrandom", "waitforcompaction", "stats"], None),
    ],
)
def test_draining(benchmarks: list[str], seconds: float | None) -> None:
    found = drain_figures(benchmarks, "overwrite", METRICS)
    assert found == ({} if seconds is None else {"drain_seconds": pytest.approx(seconds)})


COUNTERS = {
    "rocksdb.number.keys.written": 2283,
    "rocksdb.bytes.written": 222859,
    "rocksdb.number.db.seek": 469,
    "rocksdb.number.db.next": 262640,
}


def test_sizes_of_mixgraph_by_the_counters_of_a_release_that_does_not_print_them() -> None:
    keys = "Keys:       48 bytes each (+ 0 bytes user-defined timestamp)\n"
    sizes = mix_sizes(keys, COUNTERS)
    assert sizes == pytest.approx({"put_value_bytes": 34.617, "scan_keys": 560}, abs=0.001)
    assert mix_sizes(keys, {**COUNTERS, "rocksdb.number.db.next": 0})["scan_keys"] == 0
    assert mix_sizes("", {"rocksdb.number.db.seek": 0, "rocksdb.number.keys.written": 9}) == {}


def test_draining_is_unknown_without_both_times() -> None:
    assert drain_figures(AND_WAIT, "overwrite", {"seconds": 6.0}) == {}
    assert drain_figures(AND_WAIT, "overwrite", {"uptime_seconds": 6.0}) == {}


def test_stalls_are_of_the_time_in_which_somebody_writes() -> None:
    """1.2 s of stalls in 6 s of overwrites: the 10.8 % that are printed are of the 11.1 s with the drain in them."""
    found = {**METRICS, "drain_seconds": 5.1, "stall_seconds": 1.2, "stall_pct": 10.8}
    assert measured_stall_share(found) == {"stall_pct": pytest.approx(20.0), "stall_pct_published": 10.8}


@pytest.mark.parametrize("missing", ["drain_seconds", "stall_seconds", "stall_pct", "seconds"])
def test_stalls_of_a_step_that_drains_nothing_stay_as_printed(missing: str) -> None:
    found = {**METRICS, "drain_seconds": 5.1, "stall_seconds": 1.2, "stall_pct": 10.8}
    assert measured_stall_share({name: value for name, value in found.items() if name != missing}) == {}


LEVELS = """\

Level Files Size(MB)
--------------------
  0       10       36
  1        0        0
  7       32      141
"""


@pytest.mark.parametrize(
    ("after", "known"),
    [
        (["flush", "levelstats", "waitforcompaction", "stats"], True),
        (["levelstats", "compact0", "stats"], True),
        (["waitforcompaction", "levelstats", "stats"], False),  # of later
        (["flush", "levelstats", "stats"], False),  # nothing is awaited
        (["readrandom", "levelstats", "waitforcompaction"], False),
    ],
)
def test_the_debt_when_draining_begins(after: list[str], known: bool) -> None:
    found = debt_figures(["overwrite", *after], "overwrite", f"{LEVELS}\nwaitforcompaction(db): started\n{LEVELS}")
    assert found == ({"drain_l0_files": 10, "drain_l0_bytes": 36 * 2**20} if known else {})


def test_no_level_0_no_debt_known() -> None:
    cut = "\nLevel Files Size(MB)\n--------------------\n  1       10       36\n"
    assert debt_figures(AND_WAIT, "overwrite", cut) == debt_figures(AND_WAIT, "overwrite", "") == {}


def test_the_measurement_begins_when_the_database_is_open(tmp_path: Path) -> None:
    (tmp_path / "step.json").write_text(json.dumps({"seconds": 13.6}))
    start, end = measured_window(tmp_path, AND_WAIT, "overwrite", METRICS) or (0.0, 0.0)
    assert (start, end) == (pytest.approx(2.5), pytest.approx(8.5))


def test_while_a_step_is_not_over_it_begins_with_it(tmp_path: Path) -> None:
    assert measured_window(tmp_path, AND_WAIT, "overwrite", METRICS) == (0.0, 6.0)
    (tmp_path / "step.json").write_text(json.dumps({"seconds": 13.6}))
    assert measured_window(tmp_path, ["overwrite"], "overwrite", {"seconds": 6.0}) is None


def test_one_that_nobody_can_place_is_the_whole_step(tmp_path: Path) -> None:
    assert measured_window(tmp_path, ["flush", "overwrite", "stats"], "overwrite", METRICS) is None
    assert measured_window(tmp_path, ["overwrite", "stats"], "overwrite", {"uptime_seconds": 5.0}) is None


TIME = "2026/11/21-18:08:10.123456 7f32 "
LOG = f"""\
{TIME}RocksDB version: 9.9.3
{TIME}Git sha 2e09a54c4fb82e88bcaa3e7cfa8ccbbbbf3635d5
{TIME}Compile date 2024-12-19 10:11:12
{TIME}DB SUMMARY
{TIME}                      Options.max_background_jobs: 12
{TIME}                         Options.env: 0x55d0
{TIME}               Options.statistics: (nil)
{TIME}--------------- Options for column family [default]:
{TIME}           table_factory options:   flush_block_policy_factory: FlushBlockBySizePolicyFactory (0x55d1)
  cache_index_and_filter_blocks: 1
  block_cache_options:
    capacity : 33554432
  block_size: 8192
{TIME}        Options.write_buffer_size: 16777216
{TIME}        Options.compression_opts.level: 32767
{TIME}--------------- Options for column family [other]:
{TIME}        Options.write_buffer_size: 5
{TIME}EVENT_LOG_v1 {{"time_micros": 1, "event": "flush_started"}}
"""


def test_what_it_runs_with(tmp_path: Path) -> None:
    """Addresses are others in every run."""
    (tmp_path / "LOG").write_text(LOG)
    found = log_facts(tmp_path)
    assert json.loads(found.pop("options")) == {
        "max_background_jobs": "12",
        "statistics": "(nil)",
        "cache_index_and_filter_blocks": "1",
        "capacity": "33554432",
        "block_size": "8192",
        "write_buffer_size": "16777216",
        "compression_opts.level": "32767",
    }
    assert found == {
        "engine_version": "9.9.3",
        "git_sha": "2e09a54c4fb82e88bcaa3e7cfa8ccbbbbf3635d5",
        "compiled": "2024-12-19 10:11:12",
    }


@pytest.mark.parametrize(
    ("line", "sha"),
    [
        ("Git sha rocksdb_build_git_sha:@2e09a54c4f@", "2e09a54c4f"),
        ("Git sha rocksdb_build_git_sha:2e09a54c4f", "2e09a54c4f"),
        ("Git sha 0", None),
    ],
)
def test_what_packages_and_old_releases_say_of_their_commit(line: str, sha: str | None, tmp_path: Path) -> None:
    (tmp_path / "LOG").write_text(f"{TIME}{line}\n")
    assert log_facts(tmp_path).get("git_sha") == sha


def test_a_fork_says_its_own_release_and_what_it_is_based_on(tmp_path: Path) -> None:
    lines = (f"{TIME}Speedb version: 2.8.0-? (8.6.7)", f"{TIME}Git sha c328f0ebc33db0166cd2a2844ff44c8034e30e5b")
    (tmp_path / "LOG").write_text("\n".join((*lines, f"{TIME}Compile date  ")) + "\n")
    assert log_facts(tmp_path) == {
        "engine_version": "2.8.0-? (8.6.7)",
        "git_sha": "c328f0ebc33db0166cd2a2844ff44c8034e30e5b",
    }


def test_a_step_whose_log_was_not_kept(tmp_path: Path) -> None:
    assert log_facts(tmp_path) == {}


def test_half_a_line_is_left_out(tmp_path: Path) -> None:
    """It could end in half a number."""
    path = tmp_path / "a.log"
    path.write_text("rocksdb.block.cache.miss COUNT : 7284\nrocksdb.block.cache.hit COUNT : 31")
    assert read_log(path) == (
        "rocksdb.block.cache.miss COUNT : 7284\n",
        ("the file ends in the middle of a line, which is left out",),
    )


def test_line_ends_of_another_system(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"Uptime(secs): 4.2 total, 1.0 interval\r\n\r\n")
    assert read_log(tmp_path / "a.log") == ("Uptime(secs): 4.2 total, 1.0 interval\n\n", ())


def test_a_packed_file_that_is_damaged(tmp_path: Path) -> None:
    packed = gzip.compress(b"readrandom : 1.0 micros/op\n" * 1000)
    for content in (packed[:40], packed[:12] + b"\xff" * 20 + packed[32:]):
        (tmp_path / "a.gz").write_bytes(content)
        with pytest.raises(ParseError, match=r"a\.gz cannot be read: "):
            read_log(tmp_path / "a.gz")


HEAD = """RocksDB:    version {version}
Date:       Sat Nov 21 18:08:10 2026
Initializing RocksDB Options from the specified file
Keys:       20 bytes each (+ 0 bytes user-defined timestamp)
Values:     400 bytes each (200 bytes after compression)
DB path: [db]
"""
LOGS_RESULT = "{name:<12} :       4.000 micros/op {qps} ops/sec;   15.7 MB/s\n"
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
    first = HEAD.format(version="6.29.5") + LOGS_RESULT.format(name="fillseq", qps=1000) + STATS.format(uptime=3.0)
    second = HEAD.format(version="9.9.3") + LOGS_RESULT.format(name="overwrite", qps=2000)
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
    first = HEAD.format(version="9.9.3") + LOGS_RESULT.format(name="fillseq", qps=1000)
    _, second = read(written(tmp_path, first, command, own, LOGS_RESULT.format(name="overwrite", qps=2000)))
    assert (second.figures.facts.get("version"), second.figures.facts["fork"]) == (None, "Speedb: version 2.8")
    assert second.figures.metrics["usec_per_op"] == 4.0


def test_several_benchmarks_of_one_run(tmp_path: Path) -> None:
    """What a client says, and the statistics with it, are of the benchmark that is then under way."""
    parts = (
        HEAD.format(version="9.9.3"),
        LINE.format(client=0, done=5, at=1.0),
        STATS.format(uptime=1.0),
        LOGS_RESULT.format(name="overwrite", qps=1000),
        LINE.format(client=0, done=48, at=2.0),
        STATS.format(uptime=5.0),
        LINE.format(client=1, done=9, at=2.0),
        STATS.format(uptime=4.0),
        "DB path: [db]\n",
        LOGS_RESULT.format(name="readwhilewriting", qps=2000),
        STATS.format(uptime=8.0),
    )
    overwrite, reads = read(written(tmp_path, *parts))
    assert (overwrite.figures.metrics["uptime_seconds"], reads.figures.metrics["uptime_seconds"]) == (4.0, 8.0)
    assert [each.second for each in overwrite.figures.rates] == [1.0]
    assert [(each.client, each.second) for each in reads.figures.rates] == [(0, 2.0), (1, 2.0)]
    assert reads.figures.metrics["writer_qps"] == 24.0
    assert overwrite.figures.facts["also_ran"] == "readwhilewriting"


def test_rates_over_time_are_those_of_the_last_benchmark(tmp_path: Path) -> None:
    path = written(tmp_path, LOGS_RESULT.format(name="fillseq", qps=1), LOGS_RESULT.format(name="overwrite", qps=2))
    (tmp_path / "a.log.r.csv").write_text("secs_elapsed,interval_qps\n1,5\n2,6\n")
    assert [step.figures.qps for step in read(path)] == [(), [(1.0, 5.0), (2.0, 6.0)]]


def test_a_report_file_by_itself(tmp_path: Path) -> None:
    (tmp_path / "a.r.csv").write_text("secs_elapsed,interval_qps\n1,5\n2,6\n3,")
    (step,) = read(tmp_path / "a.r.csv")
    assert (step.name, step.figures.metrics, step.figures.qps) == ("report file", {}, [(1.0, 5.0), (2.0, 6.0)])


def test_a_step_of_ours(tmp_path: Path) -> None:
    path = written(tmp_path, LOGS_RESULT.format(name="overwrite", qps=2), name="stdout")
    written(tmp_path, HEAD.format(version="9.9.3"), LINE.format(client=0, done=5, at=1.0), name="stderr")
    (tmp_path / "report.csv").write_text("secs_elapsed,interval_qps\n1,5\n")
    (step,) = read(path)
    assert (step.figures.facts["version"], step.figures.qps, len(step.figures.rates)) == ("9.9.3", [(1.0, 5.0)], 1)


def test_what_a_published_script_packs(tmp_path: Path) -> None:
    """It prints its command above, with the clients that releases before 6.0 need for the time of an operation."""
    command = "/usr/bin/numactl --interleave=all ./db_bench --benchmarks=overwrite,stats --threads=4 --duration=5\n"
    text = command + HEAD.format(version="5.18") + LOGS_RESULT.format(name="overwrite", qps=1000)
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
    (step,) = read(written(tmp_path, LOGS_RESULT.format(name="overwrite", qps=2), "Uptime(secs): 12"))
    assert step.figures.warnings == ("the file ends in the middle of a line, which is left out",)


def test_a_histogram_without_its_buckets(tmp_path: Path) -> None:
    lines = (
        "Microseconds per read:",
        "Count: 5 Average: 1.0000  StdDev: 0.10",
        "Min: 1  Median: 1.0000  Max: 3",
        "Percentiles: P50: 1.00 P75: 2.00 P99: 2.00 P99.9: 2.00 P99.99: 3.00",
    )
    text = "".join(f"{line}\n" for line in lines)
    (step,) = read(written(tmp_path, LOGS_RESULT.format(name="readrandom", qps=2), text))
    assert (step.figures.metrics["p50_us"], step.figures.histograms) == (1.0, [])


def test_decimal_commas_are_no_numbers(tmp_path: Path) -> None:
    """db_bench prints none; an editor may have made them. What is left is not misread."""
    text = LOGS_RESULT.format(name="overwrite", qps=2) + "\n** Compaction Stats [default] **\n"
    table = "Level Files Size Score\n-----\n L0 1/0 29,65 MB 0.2\n Sum 1/0 29,65 MB 0.0\n"
    (step,) = read(written(tmp_path, text, table))
    assert step.figures.metrics.keys() & {"lsm_bytes", "l0_bytes", "lsm_files"} == {"lsm_files"}


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"no gzip")
    for path, why in ((tmp_path, "Is a directory"), (tmp_path / "a.gz", "Not a gzipped file (b'no')")):
        with pytest.raises(ParseError) as caught:
            read(path)
        assert str(caught.value) == f"{path} cannot be read: {why}"
