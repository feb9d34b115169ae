"""Samples of perf script counted by stack, and what is drawn and counted of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.collect import counts
from stepgrid.collectors import perf_record


@pytest.mark.parametrize(("settings", "period"), [({}, 1e6 / 99), ({"frequency": 500}, 2000.0)])
def test_a_sample_is_a_period(tmp_path: Path, settings: dict[str, int], period: float) -> None:
    folder = tmp_path / "collectors" / "graph"
    folder.mkdir(parents=True)
    record = {"collector": "perf_record", "name": "graph", "exit": 0, **settings}
    (folder / "collector.json").write_text(json.dumps(record))
    assert list(counts.collector_counts(tmp_path)) == []
    (folder / "stacks.txt").write_text(perf_record.write_stacks({("p", "main", "burn"): 3, ("p", "main"): 1}))
    assert sorted(counts.collector_counts(tmp_path)) == [
        ("perf_record", "burn", pytest.approx(3 * period)),
        ("perf_record", "main", pytest.approx(period)),
    ]


def test_nothing_is_drawn_of_a_recording_without_samples(tmp_path: Path) -> None:
    output = tmp_path / "said"
    output.write_text("")
    said = perf_record.COLLECTOR.draw(output, tmp_path)
    assert said == "perf took no sample: the step was too short, or waited all the time"
    assert list(tmp_path.iterdir()) == [output]


SCRIPT = """\
db_bench 29403/29662 13148.624696: cpu-clock:ppp:
\tffffffff815eea80 handle_mm_fault ([kernel.kallsyms])
\t           96c98 sysmalloc (/usr/lib/x86_64-linux-gnu/libc.so.6)

db_bench 29403/29661 13148.629502: cpu-clock:ppp:
\t          5b9247 rocksdb::DB::Open(rocksdb::Options const&, char; int)+0x1f (/a b/librocksdb.so.7.8.3)
\t           5963c [unknown] (/usr/bin/db_bench)
\t               1 [unknown] ([unknown])
\t               2 [unknown] ([unknown])

db_bench 29403/29661 13148.649502: cpu-clock:ppp:
\tffffffff815eea80 handle_mm_fault ([kernel.kallsyms])
\t           96c98 sysmalloc (/usr/lib/x86_64-linux-gnu/libc.so.6)

rocksdb:low 0 29403/29661 13148.649502: cpu-clock:ppp:
\t           96c98 sysmalloc (/usr/lib/x86_64-linux-gnu/libc.so.6)
"""


def test_samples_are_counted_by_stack() -> None:
    assert perf_record.count_stacks(SCRIPT.splitlines(keepends=True)) == {
        ("db_bench", "sysmalloc", "handle_mm_fault"): 2,
        ("db_bench", "[unknown]", "[db_bench]", "rocksdb::DB::Open(rocksdb::Options const&, char: int)"): 1,
        ("rocksdb:low 0", "sysmalloc"): 1,
    }


def test_a_line_for_each_stack() -> None:
    assert perf_record.write_stacks({("a", "b"): 2, ("a",): 1}) == "a 1\na;b 2\n"


def test_nothing_was_recorded() -> None:
    assert perf_record.count_stacks([]) == {}


def test_a_text_is_read_back() -> None:
    """A line without a count is none."""
    counts = {("a", "b"): 2, ("a", "b c"): 3, ("b",): 1}
    assert perf_record.read_stacks(f"{perf_record.write_stacks(counts)}cut off;he\n") == counts


def test_windows_stand_for_the_whole_step() -> None:
    """Of 10 µs of CPU per operation a quarter had no sample."""
    times = {"burn": 600.0, "main": 150.0, "[recorded]": 1000.0, "[event] cycles": 3000.0}
    recorded = [("perf_record", name, time) for name, time in times.items()]
    assert {name: time for _, name, time in counts.profile_counts(recorded, {"cpu_us_per_op": 10.0})} == {
        "cycles": pytest.approx(30_000.0),
        "burn": pytest.approx(6.0),
        "main": pytest.approx(1.5),
        "[no sample]": pytest.approx(2.5),
    }
    assert list(counts.profile_counts(recorded[:2], {"cpu_us_per_op": 10.0})) == []


def test_only_samples_of_windows_count() -> None:
    window = {"began": 13148.63, "ended": 13148.64}
    assert list(perf_record.count_stacks(SCRIPT.splitlines(keepends=True), [window])) == []
    window = {"began": 13148.62, "ended": 13148.6248}
    assert sum(perf_record.count_stacks(SCRIPT.splitlines(keepends=True), [window]).values()) == 1
