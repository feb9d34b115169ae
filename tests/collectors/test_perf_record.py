"""Samples of perf script counted by stack, and what is drawn and counted of them."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from stepgrid.collect import counts
from stepgrid_databases.collectors import perf_record
from tests.needs import may_profile, needs


@pytest.mark.parametrize(("settings", "period"), [({}, 1e6 / 99), ({"frequency": 500}, 2000.0)])
def test_a_sample_is_a_period(tmp_path, settings, period):
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


def test_nothing_is_drawn_of_a_recording_without_samples(tmp_path):
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


def test_samples_are_counted_by_stack():
    assert perf_record.count_stacks(SCRIPT.splitlines(keepends=True), {29403: False}) == {
        ("db_bench", "sysmalloc", "handle_mm_fault"): 2,
        ("db_bench", "[unknown]", "[db_bench]", "rocksdb::DB::Open(rocksdb::Options const&, char: int)"): 1,
        ("rocksdb:low 0", "sysmalloc"): 1,
    }


OTHERS = """\
swapper     0/0         0.000000: PERF_RECORD_FORK(29403:29403):(1:1)
postmaster 29403/29403 13148.624700: PERF_RECORD_FORK(30000:30000):(29403:29403)
postgres 30000/30000 13148.624710: PERF_RECORD_COMM: postgres:30000/30000
postgres 30000/30000 13148.624750: cpu-clock:I:
\t           96c98 ExecScan (/usr/bin/postgres)

rustc 77/77 13148.624790: cpu-clock:I:
\t           96c98 parse (/usr/bin/rustc)

sysbench 88/89 13148.624800: cpu-clock:I:
\t           96c98 lj_vm (/usr/bin/sysbench)

"""


def test_other_processes_do_not_count_and_a_client_is_one_function():
    """Samples of all processors hold those of the whole host."""
    assert perf_record.count_stacks(OTHERS.splitlines(keepends=True), {29403: False, 88: True}) == {
        ("postgres", "ExecScan"): 1,
        ("sysbench", "[client]"): 1,
    }


def test_a_line_for_each_stack():
    assert perf_record.write_stacks({("a", "b"): 2, ("a",): 1}) == "a 1\na;b 2\n"


def test_nothing_was_recorded():
    assert perf_record.count_stacks([], {29403: False}) == {}


def test_a_text_is_read_back():
    """A line without a count is none."""
    counts = {("a", "b"): 2, ("a", "b c"): 3, ("b",): 1}
    assert perf_record.read_stacks(f"{perf_record.write_stacks(counts)}cut off;he\n") == counts


def test_windows_stand_for_the_whole_step():
    """Of 10 µs of CPU per operation a quarter had no sample."""
    times = {"burn": 600.0, "main": 150.0, "[recorded]": 1000.0, "[event] cycles": 3000.0, "[wait] futex": 4.0}
    recorded = [("perf_record", name, time) for name, time in times.items()]
    assert {name: time for _, name, time in counts.profile_counts(recorded, {"cpu_us_per_op": 10.0})} == {
        "cycles": pytest.approx(30_000.0),
        "futex": pytest.approx(40.0),
        "burn": pytest.approx(6.0),
        "main": pytest.approx(1.5),
        "[no sample]": pytest.approx(2.5),
    }
    assert list(counts.profile_counts(recorded[:2], {"cpu_us_per_op": 10.0})) == []


@pytest.mark.parametrize(("names", "cpu"), [(("burn",), 6.0), (("burn", "[client]"), 8.0)])
def test_a_profile_is_of_what_was_sampled(names, cpu):
    """The client beside a server has no sample where perf follows the server alone."""
    recorded = [("perf_record", "[recorded]", 100.0), *(("perf_record", name, 50.0) for name in names)]
    shares = counts.profile_counts(recorded, {"cpu_us_per_op": 8.0, "server_cpu_us_per_op": 6.0})
    assert sum(time for _, _, time in shares) == pytest.approx(cpu)


def test_only_samples_of_windows_count():
    window = {"began": 13148.63, "ended": 13148.64}
    assert list(perf_record.count_stacks(SCRIPT.splitlines(keepends=True), {29403: False}, [window])) == []
    window = {"began": 13148.62, "ended": 13148.6248}
    assert sum(perf_record.count_stacks(SCRIPT.splitlines(keepends=True), {29403: False}, [window]).values()) == 1


@needs("perf")
@pytest.mark.parametrize("is_short", [True, False], ids=["ends before its first window", "lives longer"])
def test_a_step_that_ends_before_its_first_window_has_what_it_began_with(tmp_path, is_short):
    if not may_profile():
        pytest.skip("perf may not look at processes here")
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"], process_group=0)
    words = ["perf", "99", "fp", "1", "60", "60" if is_short else "1.5", str(busy.pid), str(tmp_path)]
    argv = [sys.executable, "-m", "stepgrid_databases.collectors.perf_record", *words]
    helper = subprocess.Popen(argv, process_group=0, stderr=subprocess.DEVNULL)
    windows, early = tmp_path / "windows.json", tmp_path / "perf.data.early"
    try:
        end = time.monotonic() + 60
        # on a busy host perf takes seconds to attach: the first recording goes when another is whole
        while not (windows.exists() and (is_short or not early.exists())) and time.monotonic() < end:
            time.sleep(0.05)
        os.killpg(helper.pid, signal.SIGINT)
        helper.wait(60)
    finally:
        for child in (helper, busy):
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    (window,) = json.loads(windows.read_text())["windows"]
    assert window["cpu"] > 0
    names = {path.name for path in tmp_path.glob("perf.data*")}
    assert names == ({"perf.data.early"} if is_short else {"perf.data.0"})
