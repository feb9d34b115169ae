"""Usage from samples written by hand, against figures worked out by hand."""

import json
import sys
from dataclasses import asdict

import pytest

from stepgrid.host.processes.supervision import Program, environment, supervise
from stepgrid.host.sampling import Sampler
from tests.collect.reading import series_rows, step_usage, usage


def _cpu(user, system, idle):
    rest = dict.fromkeys(("nice", "iowait", "irq", "softirq", "steal"), 0.0)
    return {**rest, "user": user, "system": system, "idle": idle}


def _device(reads, read_sectors, read_ms, queue_ms=0, writes=0, write_sectors=0, write_ms=0):
    names = ("reads", "read_sectors", "read_ms", "queue_ms", "writes", "write_sectors", "write_ms")
    return dict(zip(names, (reads, read_sectors, read_ms, queue_ms, writes, write_sectors, write_ms), strict=True))


@pytest.fixture
def folder(tmp_path):
    samples = [
        {
            "monotonic": 10.0,
            "cpu": _cpu(100, 50, 1000),
            "switches": 1000,
            "pressure": {"cpu": 0, "io": 500_000},
            "device": "md2",
            "devices": {"md2": _device(0, 0, 0), "nvme0n1": _device(7, 7, 7)},
            "process": {"rss": 10, "read_bytes": 1},
            "energy": {"joules": 3.0},
        },
        {
            "monotonic": 11.0,
            "cpu": _cpu(101, 50, 1001),
            "switches": 3000,
            "pressure": {"cpu": 0, "io": 500_000},
            "device": "md2",
            "devices": {"md2": _device(100, 800, 50, 100), "nvme0n1": _device(9, 9, 9)},
            "process": {"rss": 30, "read_bytes": 2},
            "database_bytes": 5,
        },
        {
            "monotonic": 12.0,
            "cpu": _cpu(101, 51, 1002),
            "switches": 5000,
            "pressure": {"cpu": 100_000, "io": 1_000_000},
            "device": "md2",
            "devices": {"md2": _device(110, 4096, 60, 300), "nvme0n1": _device(9, 9, 9)},
            "process": {"rss": 20, "read_bytes": 3},
            "database_bytes": 7,
        },
        {
            "monotonic": 14.0,
            "cpu": _cpu(102, 52, 1004),
            "switches": 9000,
            "pressure": {"cpu": 400_000, "io": 1_000_000},
            "device": "md2",
            "devices": {"md2": _device(110, 4096, 60, 400), "nvme0n1": _device(9, 9, 9)},
            "process": {"read_bytes": 4},
            "energy": {"joules": 11.0},
        },
    ]
    lines = "".join(json.dumps(sample) + "\n" for sample in samples)
    (tmp_path / "samples.jsonl").write_text(lines + '{"monotonic": 15.0, "cp')
    (tmp_path / "step.json").write_text(json.dumps({"user": 1.5, "system": 0.5, "seconds": 4.0, "max_rss": 33}))
    return tmp_path


def test_figures(folder):
    assert usage(folder, 1000) == pytest.approx(
        {
            "host_cpu_user_pct": 25.0,
            "host_cpu_system_pct": 25.0,
            "host_cpu_idle_pct": 50.0,
            "host_cpu_iowait_pct": 0.0,
            "host_cpu_steal_pct": 0.0,
            "cpu_seconds": 2.0,
            "cpu_us_per_op": 2000.0,
            "context_switches_per_s": 2000.0,
            "context_switches_per_op": 8.0,
            "host_cpu_us_per_op": 4000.0,
            "energy_uj_per_op": 8000.0,
            "power_watts": 2.0,
            "reads_per_op": 0.11,
            "read_kb_per_op": 4096 / 2 / 1000,
            "writes_per_op": 0.0,
            "write_kb_per_op": 0.0,
            "device_reads_per_s": 110 / 4,
            "device_read_mb_per_s": 4096 / 2048 / 4,
            "device_read_await_ms": (0.5 + 1.0) / 2,  # means of per-sample ratios; the last has no requests
            "device_read_request_kb": (4.0 + 164.8) / 2,
            "device_writes_per_s": 0.0,
            "device_write_mb_per_s": 0.0,
            "device_queue": 0.1,
            "process_rss_bytes": 30,
            "process_max_rss_bytes": 33,
            "process_read_bytes": 4,
            "database_bytes": 7,
            "pressure_cpu_pct": 10.0,
            "pressure_io_pct": 12.5,
        }
    )


def test_without_operations_there_is_nothing_per_operation(folder):
    assert not [name for name in usage(folder, None) if name.endswith("_per_op")]
    assert not [name for name in usage(folder, 0) if name.endswith("_per_op")]


def test_client_and_server_apart(tmp_path):
    used = [(5.0, 1.0, 100, 7), (5.5, 1.5, 300, 9), (7.0, 2.0, 200, 12)]
    samples = [
        {
            "monotonic": float(second),
            "process": {"user": second / 2, "system": 0.0, "rss": 10},
            "server": {"user": user, "system": system, "rss": rss, "read_bytes": read},
        }
        for second, (user, system, rss, read) in enumerate(used)
    ]
    _written(tmp_path, *samples)
    (tmp_path / "step.json").write_text(json.dumps({"user": 0.75, "system": 0.25, "max_rss": 33}))
    assert usage(tmp_path, 1000) == {
        "cpu_seconds": 4.0,
        "client_cpu_seconds": 1.0,
        "server_cpu_seconds": 3.0,
        "cpu_us_per_op": 4000.0,
        "client_cpu_us_per_op": 1000.0,
        "server_cpu_us_per_op": 3000.0,
        "process_cores": 0.5,
        "server_cores": 1.5,
        "process_rss_bytes": 10,
        "process_max_rss_bytes": 33,
        "server_rss_bytes": 300,
        "server_read_bytes": 5,
    }
    assert [row["server_cores"] for row in series_rows(tmp_path)] == [1.0, 2.0]


def test_a_server_whose_last_sample_lost_a_process_used_what_was_seen_before(tmp_path):
    used = [33.67, 36.1, 36.74, 33.70]
    _written(
        tmp_path, *({"monotonic": float(at), "server": {"user": user, "system": 1.0}} for at, user in enumerate(used))
    )
    (tmp_path / "step.json").write_text(json.dumps({"user": 0.75, "system": 0.25}))
    assert usage(tmp_path, 1000)["server_cpu_seconds"] == pytest.approx(3.07)


def test_tasks_memory_and_sensors(tmp_path):
    memory = {"free": 5, "cached": 20, "reclaimable": 2, "swap": 10, "swap_free": 7}
    paging = {"read": 0, "written": 0, "swapped_in": 0, "swapped_out": 0}
    more = {"read": 2 << 20, "written": 4 << 20, "swapped_in": 0, "swapped_out": 1 << 20}
    _written(
        tmp_path,
        {"monotonic": 1.0, "running": 1, "blocked": 0, "interrupts": 7, "memory": memory, "paging": paging,
         "sensors": {"mhz": 3000.0, "celsius": 61.0, "throttles": 5}},
        {"monotonic": 3.0, "running": 4, "blocked": 3, "interrupts": 27, "memory": memory, "paging": more,
         "sensors": {"mhz": 2000.0, "celsius": 60.0, "throttles": 9}},
    )  # fmt: skip
    assert usage(tmp_path, None) == {
        "run_queue": 1.5,  # without the one that looks
        "blocked_tasks": 1.5,
        "interrupts_per_s": 10.0,
        "host_read_mb_per_s": 1.0,
        "host_write_mb_per_s": 2.0,
        "swap_in_mb_per_s": 0.0,
        "swap_out_mb_per_s": 0.5,
        "memory_free_bytes": 5.0,
        "memory_cache_bytes": 22.0,
        "swap_used_bytes": 3.0,
        "cpu_mhz": 2500.0,
        "cpu_celsius_max": 61.0,
        "cpu_throttles": 4.0,
    }
    assert series_rows(tmp_path)[0]["cpu_celsius"] == 60.0


def test_rates_of_each_interval(folder):
    rows = series_rows(folder)
    assert [row["second"] for row in rows] == [1.0, 2.0, 4.0]
    assert [row["device_reads_per_s"] for row in rows] == [100.0, 10.0, 0.0]
    assert [row.get("device_read_request_kb") for row in rows] == [4.0, pytest.approx(164.8), None]
    assert [row["context_switches_per_s"] for row in rows] == [2000.0, 2000.0, 2000.0]
    assert [row.get("process_rss_bytes") for row in rows] == [30, 20, None]


def test_missing_is_missing(tmp_path):
    assert usage(tmp_path, 10) == {}
    assert series_rows(tmp_path) == []
    (tmp_path / "samples.jsonl").write_text('{"monotonic": 1.0, "switches": 5}\n')
    assert usage(tmp_path, 10) == {}
    (tmp_path / "samples.jsonl").write_text('{"monotonic": 1.0, "switches": 5}\n{"monotonic": 3.0, "switches": 9}\n')
    assert usage(tmp_path, None) == {"context_switches_per_s": 2.0}


def test_a_counter_that_went_back_gives_no_figure(tmp_path):
    (tmp_path / "samples.jsonl").write_text('{"monotonic": 1.0, "switches": 5}\n{"monotonic": 3.0, "switches": 1}\n')
    assert usage(tmp_path, 10) == {}


def _written(folder, *samples):
    (folder / "samples.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    return folder


def test_what_is_left_of_a_second_is_no_ratio_of_its_own(tmp_path):
    """A step ends 20 ms after a sample, with one slow read: the mean of the ratios would be 33 ms."""
    at = ((1.0, 0, 0), (2.0, 100, 100), (3.0, 200, 200), (3.02, 201, 299))
    samples = [
        {"monotonic": when, "device": "vda", "devices": {"vda": _device(reads, 8 * reads, spent)}}
        for when, reads, spent in at
    ]
    assert usage(_written(tmp_path, *samples), None)["device_read_await_ms"] == 1.0
    assert [row["second"] for row in series_rows(tmp_path)] == [1.0, 2.0]


def test_a_step_that_is_shorter_than_a_second_is_one_interval(tmp_path):
    samples = [
        {"monotonic": when, "device": "vda", "devices": {"vda": _device(reads, 8 * reads, reads)}}
        for when, reads in ((1.0, 0), (1.2, 10))
    ]
    assert [row["device_reads_per_s"] for row in series_rows(_written(tmp_path, *samples))] == [pytest.approx(50.0)]


def test_a_step_of_less_than_two_seconds_has_what_the_kernel_counted_and_nothing_of_its_samples(tmp_path):
    """As sampled: a program that is being loaded, one that gives its memory back, and a client of a server."""
    samples = [
        {
            "monotonic": at,
            "cpu": _cpu(10 * at, 0, 0),
            "switches": 1000 * at,
            "database_bytes": 7 + at,
            "process": {"user": at, "system": 0.0, "rss": rss, "read_bytes": 0, "write_bytes": 0},
            "server": {"user": at, "system": 0.0, "rss": 5, "read_bytes": 9 * at, "write_bytes": 0},
            "sensors": {"celsius": 50.0, "throttles": 0},
        }
        for at, rss in ((0.0, 600_000), (1.0, 2_000_000), (1.2, 700_000))
    ]
    _written(tmp_path, *samples)
    (tmp_path / "step.json").write_text(json.dumps({"user": 0.4, "system": 0.1, "seconds": 1.2, "max_rss": 91_000_000}))
    counted = {
        "cpu_seconds": pytest.approx(1.7),
        "client_cpu_seconds": 0.5,
        "server_cpu_seconds": 1.2,
        "server_rss_bytes": 5,
        "process_max_rss_bytes": 91_000_000,
        "server_read_bytes": pytest.approx(10.8),
        "server_write_bytes": 0,
        "database_bytes": 8.2,
    }
    by_operation = {
        "cpu_us_per_op": pytest.approx(17_000),
        "client_cpu_us_per_op": 5000,
        "server_cpu_us_per_op": pytest.approx(12_000),
    }
    assert usage(tmp_path, 100) == counted | by_operation
    assert step_usage(tmp_path, (0.3, 0.9)).figures(100) == counted | by_operation  # of all of the step: exact


HOLD = "import sys, time; held = b'x' * (90 << 20); time.sleep(float(sys.argv[1]))"


@pytest.mark.parametrize(
    ("argv", "resident"),
    [
        (["/bin/true"], False),
        ([sys.executable, "-c", HOLD, "0.3"], False),
        ([sys.executable, "-c", HOLD, "2.5"], True),
    ],
)
def test_the_memory_of_a_step_is_plausible_or_absent(tmp_path, argv, resident):
    sampler = Sampler(tmp_path / "samples.jsonl", None)
    ended = supervise(Program(argv, environment(argv[0], {}), tmp_path), 60.0, sampler.start, sampler.stop)
    (tmp_path / "step.json").write_text(json.dumps(asdict(ended)))
    figures = usage(tmp_path, 10)
    assert figures["cpu_us_per_op"] == pytest.approx((ended.user + ended.system) * 1e5)
    assert ("process_rss_bytes" in figures) == resident or ended.seconds >= 1.9  # a busy host may stretch a step
    if "process_rss_bytes" in figures:
        assert 90 << 20 <= figures["process_rss_bytes"] <= ended.max_rss


def test_memory_of_a_process_that_has_ended_or_only_begins_is_none(tmp_path):
    """The first sample sees a program that is being loaded, the last one a process that is over: 0 is no figure."""
    process = [{"rss": 6_000_000}, {"rss": 0}]
    _written(tmp_path, *({"monotonic": at / 4, "process": each} for at, each in enumerate(process)))
    (tmp_path / "step.json").write_text('{"max_rss": 45000000}')
    assert usage(tmp_path, None) == {"process_max_rss_bytes": 45_000_000}
    assert all("process_rss_bytes" not in row for row in series_rows(tmp_path))


def test_waits_are_those_of_threads_that_worked_by_their_cpu(tmp_path):
    """Twice as much CPU as the looks saw: twice as much of all."""
    waits = {
        "running": 1.0,
        "waiting for a CPU": 0.5,
        "disk": 2.0,
        "lock": 0.0,
        "timer": 0.1,
        "peer": 0.0,
        "other": 0.0,
    }
    samples = [
        {"monotonic": float(second), "waits": {name: share * value for name, value in waits.items()},
         "process": {"user": 0.0, "system": 0.0, "rss": 1, "faults": 1000 * second}}
        for second, share in ((0, 0.0), (2, 0.5), (4, 1.0))
    ]  # fmt: skip
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    (tmp_path / "step.json").write_text(json.dumps({"user": 1.5, "system": 0.5, "seconds": 4.0}))
    figures = usage(tmp_path, 1000)
    assert figures["cpu_us_per_op"] == 2000
    assert figures["run_delay_us_per_op"] == 1000
    assert figures["disk_wait_us_per_op"] == 4000
    assert figures["page_faults_per_op"] == 4
    for sample in samples:  # a kernel that does not count run delay
        sample["waits"] = dict.fromkeys(waits, 0.0)
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    assert not [name for name in usage(tmp_path, 1000) if "delay" in name or "wait" in name]
