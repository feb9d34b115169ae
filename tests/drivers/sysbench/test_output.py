from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pytest

from stepgrid.model.figures import ParseError, rows
from stepgrid_databases.drivers.sysbench.output import (
    bucket_lines,
    facts,
    failure,
    parse,
    percentiles,
    printed,
    series,
    summary,
)

HEAD = """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
"""
SERIES = """\
[ 1s ] thds: 4 tps: 10.00 qps: 200.50 (r/w/o: 140.00/40.00/20.50) lat (ms,95%): 5.28 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 4 tps: 12.00 qps: 240.00 (r/w/o: 168.00/48.00/24.00) lat (ms,95%): 5.09 err/s: 1.00 reconn/s: 0.00
"""
HISTOGRAM = """\
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       1.000 |************************                 60
       2.000 |**************                           38
       4.000 |                                         2

"""
PERCENTILES = {
    "p50_us": 1000.0,
    "p75_us": 2000.0,
    "p95_us": 2000.0,
    "p99_us": 4000.0,
    "p99_9_us": 4000.0,
    "p99_99_us": 4000.0,
}
END = """\
SQL statistics:
    queries performed:
        read:                            1400
        write:                           400
        other:                           200
        total:                           2000
    transactions:                        100    (20.00 per sec.)
    queries:                             2000   (400.00 per sec.)
    ignored errors:                      3      (0.60 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          5.0000s
    total number of events:              100

Latency (ms):
         min:                                    0.70
         avg:                                    1.50
         max:                                    4.25
         95th percentile:                        2.00
         sum:                                  150.00

Threads fairness:
    events (avg/stddev):           25.0000/0.50
    execution time (avg/stddev):   4.9985/0.00
"""


def test_figures_by_name() -> None:
    found = parse(HEAD + SERIES + HISTOGRAM + END)
    assert found.metrics == {
        "qps": 400.0,
        "operations": 2000.0,
        "seconds": 5.0,
        "min_us": 700.0,
        "avg_us": 1500.0,
        "max_us": 4250.0,
        "read_queries": 1400.0,
        "write_queries": 400.0,
        "other_queries": 200.0,
        "transactions": 100.0,
        "transactions_per_s": 20.0,
        "ignored_errors": 3.0,
        "reconnects": 0.0,
        **PERCENTILES,
    }
    assert found.qps == [(1.0, 200.5), (2.0, 240.0)]
    assert found.facts == {"sysbench": "1.0.20", "lua": "system LuaJIT 2.1.0-beta3", "threads": "4"}


def test_without_a_histogram_there_is_the_percentile_that_is_printed() -> None:
    percentiles = {name: value for name, value in parse(END).metrics.items() if name.startswith("p")}
    assert percentiles == {"p95_us": 2000.0}
    other = parse(END.replace("95th", "99.9th"))
    assert other.metrics["p99_9_us"] == 2000.0
    assert "p95_us" not in other.metrics


def test_a_newer_version_says_otherwise_how_long_it_ran() -> None:
    newer = END.replace("General statistics:\n    total time:  ", "Throughput:\n    time elapsed:")
    assert summary(newer).seconds == 5.0


def test_what_is_not_printed_is_missing() -> None:
    found = parse(
        END.replace("    reconnects:                          0      (0.00 per sec.)\n", "").split("Latency")[0]
    )
    assert {"reconnects", "avg_us", "max_us", "p95_us"}.isdisjoint(found.metrics)


def test_a_message_with_a_long_statement_is_cut() -> None:
    said = failure(f"FATAL: mysql_drv_query() returned error 1114 (full) for query 'INSERT {'x' * 90_000}\n")
    assert said == f"mysql_drv_query() returned error 1114 (full) for query 'INSERT {'x' * 237} …"


def test_fatal_is_a_failure_whatever_follows() -> None:
    with pytest.raises(ParseError) as caught:
        parse(f"{HEAD}FATAL: error 1213: deadlock\n(last message repeated 3 times)\nFATAL: more\n{END}")
    assert str(caught.value) == "sysbench failed: error 1213: deadlock"
    assert failure(HEAD + END) is None


def test_a_connection_that_fails_says_why() -> None:
    first = "FATAL: unable to connect to MySQL server on socket '/run/s', aborting..."
    text = f"{HEAD}{first}\nFATAL: error 1040: Too many connections\nFATAL: `thread_init' function failed: x\n"
    said = "unable to connect to MySQL server on socket '/run/s': error 1040: Too many connections"
    assert failure(text) == said


def test_a_bucket_has_what_is_nearest_to_its_latency() -> None:
    (found,) = parse(HEAD + HISTOGRAM + END).histograms
    assert (found.operation, list(found.operations)) == ("", [60, 38, 2])
    assert [round(edge, 2) for edge in (found.least[0], found.most[0])] == [991.04, 1009.04]


def test_neighbours_meet(samples: Path) -> None:
    """Where two buckets are side by side, one ends where the other begins; what is printed has three decimals."""
    text = (samples / "engines" / "sysbench-pg-17.11.0-oltp_read_write.txt").read_text(encoding="utf-8")
    found = parse(text).histograms
    edges = [(least, most) for _, least, most, _ in rows(found)]
    meeting = [(most, next_) for (least, most), (next_, _) in pairwise(edges) if next_ / least < 1.03]
    assert len(meeting) > 50
    assert all(most == pytest.approx(least, rel=2e-3) for most, least in meeting)


def test_warnings_are_kept() -> None:
    assert list(parse(f"WARNING: --num-threads is deprecated\n{END}").warnings) == ["--num-threads is deprecated"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "no statistics (`SQL statistics:`)"),
        (END.replace("queries: ", "q: "), "no line with the rate of queries (`queries: … (… per sec.)`)"),
    ],
)
def test_an_output_that_ends_early_says_what_it_lacks(text: str, said: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert str(caught.value) == said


def test_seconds_begin_again_after_a_warmup() -> None:
    again = SERIES.replace("200.50", "1.00").replace("240.00", "2.00")
    assert series(again + SERIES) == [(1.0, 200.5), (2.0, 240.0)]


def test_a_warmup_of_one_interval() -> None:
    first, _ = SERIES.splitlines(keepends=True)
    assert series(first.replace("200.50", "1.00") + SERIES) == [(1.0, 200.5), (2.0, 240.0)]
    assert series("") == []


def test_no_histogram_has_no_percentiles() -> None:
    assert bucket_lines(END) == ()
    assert percentiles(()) == {}


def test_all_samples_are_read(samples: Path) -> None:
    read = {}
    for path in sorted((samples / "engines").glob("sysbench-*")):
        text = path.read_text(encoding="utf-8")
        if failure(text) is None:
            found, end = parse(text), summary(text)
            # what sysbench itself makes of the histogram, in two digits behind the point
            assert round(found.metrics["p95_us"] / 1000, 2) == pytest.approx(end.percentiles[95.0], abs=0.011)
            assert sum(count for _, count in bucket_lines(text)) == end.events
            assert found.qps
            assert facts(text)["threads"] == "2"
            read[path.name] = found
    assert len(read) == 22


def test_the_sample_that_ends_in_fatal_is_a_failure(samples: Path) -> None:
    with pytest.raises(
        ParseError, match=r"^sysbench failed: `thread_done' function failed: .* 'stmt' \(a nil value\)$"
    ):
        parse((samples / "engines" / "sysbench-custom-lua-csv-pg17.txt").read_text(encoding="utf-8"))


# Outputs that people already have.

RUN = HEAD + SERIES + HISTOGRAM + END


def test_one_run_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "sb.o"
    path.write_text(RUN)
    (step,) = printed(path)
    assert step.name == "sb.o"
    assert step.figures.metrics["qps"] == 400.0
    assert [len(each.operations) for each in step.figures.histograms] == [3]
    assert len(step.figures.qps) == 2


def test_several_runs_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(f"sysbench oltp_scan.lua --threads=1 run\n{RUN}{HEAD}FATAL: deadlock\n{RUN}")
    steps = printed(path)
    assert [step.name for step in steps] == ["oltp_scan", "log", "log"]
    assert [len(step.figures.metrics) > 0 for step in steps] == [True, False, True]
    assert list(steps[1].figures.warnings) == ["sysbench failed: deadlock"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "no such thing\n",
            "no output of sysbench: neither its first line (`sysbench VERSION (using LUA)`) nor its statistics "
            "(`SQL statistics:`)",
        ),
        (RUN + HEAD, "run 2: no statistics (`SQL statistics:`)"),
    ],
)
def test_what_is_no_output(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(text)
    with pytest.raises(ParseError) as caught:
        printed(path)
    assert str(caught.value) == f"{path}: {said}"


def test_one_that_is_packed(tmp_path: Path) -> None:
    (tmp_path / "sb.o.gz").write_bytes(gzip.compress(RUN.replace("\n", "\r\n").encode()))
    assert printed(tmp_path / "sb.o.gz")[0].figures.metrics["operations"] == 2000.0


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(RUN.encode())[:60])
    for name, why in (
        ("", "Is a directory"),
        ("cut.gz", "Compressed file ended before the end-of-stream marker was reached"),
    ):
        with pytest.raises(ParseError) as caught:
            printed(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name} cannot be read: {why}"


def test_all_samples_can_be_read(samples: Path) -> None:
    for path in sorted((samples / "engines").glob("sysbench-*")):
        assert len(printed(path)) == 1


def test_a_count_that_is_none_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text((HEAD + END).replace("total:                           2000", "total:  4.25"))
    (run,) = printed(tmp_path / "a")
    assert "qps" in run.figures.metrics
