"""Why an arm is faster or slower: the first-named cause of cases whose cause is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from stepgrid.summarize.causes import causes
from stepgrid.summarize.changes import counter_changes
from stepgrid.summarize.comparisons.comparison import ComparedMetric
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.why import ArmCause, causes_by_arm, chain_text
from tests.summarize import made

# Figures of a read on a host that others use, too: 10 microseconds, half of them CPU, 3 waiting for a processor.
USUAL: dict[str, Any] = {
    "qps": 100_000.0, "avg_us": 10.0, "cpu_us_per_op": 5.0, "context_switches_per_op": 0.03,
    "block_cache_hit_pct": 99.5, "reads_per_op": 0.01, "device_read_await_ms": 0.1, "writes_per_op": 0.001,
    "device_write_await_ms": 0.5, "stall_pct": 0.0, "context_switches_per_s": 3_000.0, "host_cpu_idle_pct": 0.0,
    "operations": 1_000_000.0, "write_kb_per_op": 0.01, "process_write_bytes": 10_000_000.0,
    "page_faults_per_op": 0.001,
}  # fmt: skip
WAITS: dict[str, Any] = {
    "run_delay_us_per_op": 3.0, "disk_wait_us_per_op": 1.0, "lock_wait_us_per_op": 0.5, "timer_wait_us_per_op": 0.0,
    "peer_wait_us_per_op": 0.5, "other_wait_us_per_op": 0.0,
}  # fmt: skip


def point(name: str, noise: Sequence[float] = (1.0, 1.0, 1.0), /, **figures: float) -> Point:
    """`noise`: factors of the times of each load."""
    known = {**USUAL, **figures}
    return made.point(
        *(
            made.run(
                name,
                load,
                known["qps"] / factor,
                **{key: known[key] * (factor if "us" in key else 1) for key in known if key != "qps"},
            )
            for load, factor in enumerate(noise)
        )
    )


def texts(arm: Point, base: Point) -> list[str]:
    return [cause.text for cause in causes(arm, base)]


def why(**figures: float) -> list[str]:
    """Explain an arm by the waits of its threads."""
    return texts(point("arm", **{**WAITS, **figures}), point("base", **WAITS))


FIRST: dict[str, tuple[dict[str, float], str]] = {
    "a smaller cache, whose misses cost CPU and reads": (
        {"qps": 14_000, "avg_us": 70, "block_cache_hit_pct": 10.5, "cpu_us_per_op": 38, "disk_wait_us_per_op": 21},
        "block cache misses 0.5 % → 89.5 %",
    ),
    "a lock that is held longer": (
        {"qps": 40_000, "avg_us": 25, "lock_wait_us_per_op": 12.5, "cpu_us_per_op": 8},
        "waiting for locks and other threads 0.500 → 12.5 (25.00×) µs per operation, 80 % [79, 81] of the time",
    ),
    "a throttled device": (
        {"qps": 20_000, "avg_us": 50, "device_read_await_ms": 4, "disk_wait_us_per_op": 40},
        "waiting for the disk 1 → 40 (40.00×) µs per operation (each read 0.100 → 4 ms), 98 % [97, 98] of the time",
    ),
    "a function made slower, on processors that are all busy": (
        {"qps": 80_000, "avg_us": 16, "cpu_us_per_op": 8, "run_delay_us_per_op": 6},
        "CPU 5 → 8 (1.60×) µs per operation, 50 % [49, 51] of the time",
    ),
    "compactions that do not keep up": (
        {"qps": 50_000, "avg_us": 20, "stall_pct": 40, "lock_wait_us_per_op": 10},
        "write stalls 0 → 40 % of the time",
    ),
    "a sleep in each call, on processors that are all busy": (
        {"qps": 2_000, "avg_us": 500, "cpu_us_per_op": 20, "run_delay_us_per_op": 270, "timer_wait_us_per_op": 205},
        "asleep by a timer 0 → 205 µs per operation, 42 % [42, 42] of the time",
    ),
    "a sync for each commit": (
        {"qps": 4_000, "avg_us": 250, "cpu_us_per_op": 11, "disk_wait_us_per_op": 230, "writes_per_op": 1.0,
         "write_kb_per_op": 4, "process_write_bytes": 4e9},
        "waiting for the disk 1 → 230 (230×) µs per operation (device writes 0.000977 → 0.977 per operation), "
        "95 % [95, 96] of the time",
    ),
    "memory that is mapped anew for each block": (
        {"qps": 50_000, "avg_us": 20, "cpu_us_per_op": 14, "page_faults_per_op": 8},
        "page faults 0.00100 → 8 (8,000×) per operation",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("figures", "first"), FIRST.values(), ids=FIRST)
def test_the_first_cause(figures: dict[str, float], first: str) -> None:
    assert why(**figures)[0] == first


# Results of a kernel that counts no run delay, or of another tool: nothing tells sleep from waiting for a processor.
UNTOLD: dict[str, tuple[dict[str, float], str]] = {
    "CPU": ({"qps": 80_000, "avg_us": 12.5, "cpu_us_per_op": 7.5}, "CPU 5 → 7.50 (1.50×) µs per operation"),
    "a throttled device": (
        {"qps": 20_000, "avg_us": 50, "device_read_await_ms": 4},
        "each read of the device waits 0.100 → 4 (40.00×) ms",
    ),
    "more reads of the same device": (
        {"qps": 50_000, "avg_us": 20, "reads_per_op": 0.11},
        "device reads 0.0100 → 0.110 (11.00×) per operation",
    ),
    "a mutex that threads wait for": (
        {"qps": 40_000, "avg_us": 25, "context_switches_per_op": 0.9, "context_switches_per_s": 36_000,
         "cpu_us_per_op": 9},
        "context switches 0.0300 → 0.900 (30.00×) per operation",
    ),
    "a throttled device, beside others who go on switching": (
        {"qps": 50, "avg_us": 20_000, "cpu_us_per_op": 40, "context_switches_per_op": 60,
         "context_switches_per_s": 3_000, "device_read_await_ms": 1980},
        "each read of the device waits 0.100 → 1,980 (19,800×) ms",
    ),
    "fsync on each commit, and the kernel's threads that it wakes": (
        {"qps": 400, "avg_us": 2_500, "cpu_us_per_op": 170, "context_switches_per_op": 17,
         "context_switches_per_s": 6_800, "writes_per_op": 0.7, "write_kb_per_op": 3, "process_write_bytes": 4e9},
        "device writes 0.000977 → 0.700 (717×) per operation",
    ),
    "more CPU, beside others who write": (
        {"qps": 50_000, "avg_us": 20, "cpu_us_per_op": 15, "writes_per_op": 0.04, "write_kb_per_op": 0.4,
         "process_write_bytes": 0},
        "CPU 5 → 15 (3.00×) µs per operation",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("figures", "first"), UNTOLD.values(), ids=UNTOLD)
def test_without_run_delay_no_cause_has_a_share_of_the_time(figures: dict[str, float], first: str) -> None:
    found = texts(point("arm", **figures), point("base"))
    assert found[0] == first
    assert not [text for text in found if "of the time" in text]


def test_time_off_the_processors_is_nobodys_where_nothing_tells_what_it_was() -> None:
    """No processor of the host was idle: that says nothing of this step."""
    assert texts(point("arm", qps=20_000.0, avg_us=50.0), point("base")) == []


def test_few_requests_of_a_device_say_nothing_of_its_waits() -> None:
    """One write in two seconds, of an arm that is 52 times as fast by not syncing."""
    base = point("base", **WAITS, device_write_await_ms=0.07, writes_per_op=1.0, operations=5000.0)
    arm = point(
        "arm", **WAITS, qps=5_200_000.0, avg_us=0.19, writes_per_op=0.00001, device_write_await_ms=1.0,
        operations=200_000.0,
    )  # fmt: skip
    assert not [text for text in texts(arm, base) if "waits" in text]
    untold = {"writes_per_op": 0.00001, "operations": 200_000.0, "device_write_await_ms": 1.0}
    assert not [text for text in texts(point("arm", qps=1.0, avg_us=1e6, **untold), base) if "each write" in text]


def test_what_the_loads_do_not_show_is_no_cause() -> None:
    """The means differ as much as those of a cause; the loads of each arm differ as much among themselves."""
    noisy = (0.6, 1.0, 1.7)
    arm = point("arm", noisy, **{**WAITS, "cpu_us_per_op": 6.5, "avg_us": 12.0, "disk_wait_us_per_op": 2.0})
    assert texts(arm, point("base", tuple(reversed(noisy)), **WAITS)) == []
    assert texts(made.point(made.run("arm", 0, 1.0)), made.point(made.run("base", 0, 2.0))) == []


def test_a_share_has_the_interval_of_its_cause() -> None:
    arm = point("arm", (0.9, 1.0, 1.1), **{**WAITS, "cpu_us_per_op": 15.0, "avg_us": 20.0, "qps": 50_000.0})
    (cause, *_) = causes(arm, point("base", (0.95, 1.0, 1.05), **WAITS))
    assert cause.share is not None
    share, low, high = cause.share
    assert low < share < high
    assert 0.7 < low < 0.97
    assert 1.03 < high < 1.3
    assert cause.text.startswith("CPU 5.00 → 14.9 (2.99×) µs per operation, 100 % [")


def test_what_follows_from_a_cause_stands_behind_it() -> None:
    found = why(
        qps=14_000.0, avg_us=70.0, block_cache_hit_pct=10.5, cpu_us_per_op=38.0, disk_wait_us_per_op=20.0,
        reads_per_op=0.2,
    )  # fmt: skip
    assert found[1:] == [
        "CPU 5 → 38 (7.60×) µs per operation, 55 % [55, 55] of the time",
        "waiting for the disk 1 → 20 (20.00×) µs per operation (device reads 0.0100 → 0.200 per operation), "
        "32 % [31, 32] of the time",
    ]


def test_what_goes_the_other_way_is_no_cause() -> None:
    """Faster, with less CPU, though it switches more."""
    found = why(qps=150_000.0, avg_us=6.0, cpu_us_per_op=2.0, lock_wait_us_per_op=0.9)
    assert found == ["CPU 5 → 2 (0.40×) µs per operation, 75 % [75, 75] of the time"]


def test_client_and_server_are_told_apart_and_from_the_network_between_them() -> None:
    waits = {name: value for name, value in WAITS.items() if name != "peer_wait_us_per_op"}
    base = point("base", **waits, client_cpu_us_per_op=1.0, server_cpu_us_per_op=4.0)
    figures = {"cpu_us_per_op": 6.5, "client_cpu_us_per_op": 1.0, "server_cpu_us_per_op": 5.5}
    arm = point("arm", **waits, **figures, qps=80_000.0, avg_us=12.5)
    assert texts(arm, base)[0] == "server CPU 4 → 5.50 (1.38×) µs per operation, 60 % [59, 61] of the time"
    far = point("arm", **waits, client_cpu_us_per_op=1.0, server_cpu_us_per_op=4.0, qps=1_000.0, avg_us=1_000.0)
    assert texts(far, base)[0].startswith("waiting in sockets, between client and server 0.500 → 990 ")


def test_small_changes_and_missing_figures_say_nothing() -> None:
    assert why(qps=90_000.0, avg_us=11.0, cpu_us_per_op=5.2) == []
    assert why() == []
    none = made.point(made.run("arm", 0, 1.0)), made.point(made.run("base", 0, 2.0))
    assert texts(*none) == []


# What is compared

LATENCY = ComparedMetric("p99_us", "us", "lower")
INDEXES = ComparedMetric("index_bytes", "B", "lower")


def test_a_latency_has_causes_where_there_is_no_qps() -> None:
    figures = {"p99_us": 100.0, "avg_us": 50.0, "disk_wait_us_per_op": 41.0}
    arm, base = (
        made.point(*(made.run(name, load, **{"qps": 0.0, **USUAL, **WAITS, **figures_}) for load in range(3)))
        for name, figures_ in (("arm", figures), ("base", {"p99_us": 20.0}))
    )
    for side in (arm, base):
        for run in side.runs:
            run.metrics.pop("qps")  # type: ignore[attr-defined]
    (first, *_) = causes(arm, base, metric=LATENCY)
    assert first.text == "waiting for the disk 1 → 41 (41.00×) µs per operation, 100 % [99, 101] of the time"


SERVER: dict[str, float] = {
    "qps": 1_000.0, "avg_us": 1_000.0, "server_cpu_us_per_op": 100.0, "client_cpu_us_per_op": 100.0,
    "cpu_us_per_op": 200.0, "run_delay_us_per_op": 50.0, "disk_wait_us_per_op": 0.0, "lock_wait_us_per_op": 0.0,
    "timer_wait_us_per_op": 0.0, "other_wait_us_per_op": 0.0, "operations": 10_000.0, "cache_misses_per_op": 0.0,
}  # fmt: skip
SLOWER: dict[str, float] = {**SERVER, "qps": 500.0, "avg_us": 2_000.0}


def of_server(
    figures: Mapping[str, float],
    sessions: Mapping[str, float] | None = None,
    counters: tuple[Mapping[str, float], Mapping[str, float]] = ({}, {}),
) -> list[str]:
    """Explain a slower arm by what its server told; `sessions`: microseconds per operation."""
    waits = {name: 10_000.0 * value for name, value in (sessions or {}).items()}
    arm, base = point("arm", **{**SLOWER, **figures}), point("base", **SERVER)
    sides = ((arm, {"running": 5.0, **waits}, counters[0]), (base, {"running": 5.0}, counters[1]))
    growth = {run.place: {"session waits": seen, "engine": counts} for side, seen, counts in sides for run in side.runs}
    return [cause.text for cause in causes(arm, base, growth)]


def test_a_wait_that_the_server_names_stands_for_the_one_that_the_kernel_sees() -> None:
    """A session that waits for a lock of a row sleeps in a socket, as it does between two statements."""
    row_lock, *_ = of_server({}, {"Lock:transactionid": 900.0})
    assert row_lock == "waiting for row locks (transactionid) 0 → 900 µs per operation, 90 % [89, 91] of the time"
    syncs = ({"pg_stat_wal.wal_sync": 10_000.0}, {"pg_stat_wal.wal_sync": 100.0})
    first, *others = of_server({"disk_wait_us_per_op": 950.0}, {"IO:WALSync": 930.0}, syncs)
    assert first == (
        "waiting for syncs of the log (WALSync) 0 → 930 µs per operation "
        "(syncs 0.0100 → 1 per operation), 93 % [92, 94] of the time"
    )
    assert not others


def test_a_wait_of_which_the_server_names_little_stays() -> None:
    texts = of_server({"disk_wait_us_per_op": 950.0}, {"IO:DataFileWrite": 60.0})
    assert [text.partition(" 0 ")[0] for text in texts] == ["waiting for files (DataFileWrite)", "waiting for the disk"]


def test_misses_of_a_cache_have_the_share_of_their_reads() -> None:
    hits = ({"pg_stat_database.blks_hit": 5e4}, {"pg_stat_database.blks_hit": 9e4})
    figures = {"cache_misses_per_op": 4.0, "server_cpu_us_per_op": 500.0, "cpu_us_per_op": 600.0}
    first, *_ = of_server(figures, {"IO:DataFileRead": 600.0}, hits)
    assert first == "cache misses 0 → 4 per operation (hits 9 → 5, reads 0 → 600 µs), 60 % [60, 60] of the time"


def test_innodb_counts_the_time_of_row_locks_in_milliseconds() -> None:
    counters = ({"Innodb_row_lock_time": 8_000.0}, {"Innodb_row_lock_time": 0.0})
    first, *_ = of_server({}, None, counters)
    assert first == ("waiting for row locks (Innodb_row_lock_time) 0 → 800 µs per operation, 80 % [79, 81] of the time")


def test_a_size_is_explained_by_sizes_alone() -> None:
    figures = {"index_bytes": 6.46 * 2**20, "qps": 50_000.0, "avg_us": 20.0, "cpu_us_per_op": 12.0}
    arm, base = point("arm", **{**WAITS, **figures}), point("base", **WAITS, index_bytes=2.02 * 2**20)
    assert [cause.text for cause in causes(arm, base, metric=INDEXES)] == ["indexes 2.02 MiB → 6.46 MiB (3.20×)"]
    assert causes(arm, base)[0].text == "CPU 5 → 12 (2.40×) µs per operation, 70 % [69, 71] of the time"


def test_a_larger_index_leads_the_time_that_it_costs_unless_the_step_wrote_it() -> None:
    figures = {"index_bytes": 64.6 * 2**20, "qps": 50_000.0, "avg_us": 20.0, "cpu_us_per_op": 15.0}
    quiet = {"process_write_bytes": 0.0}
    arm = point("arm", **{**WAITS, **figures, **quiet})
    base = point("base", **WAITS, index_bytes=20.2 * 2**20, **quiet)
    assert texts(arm, base)[0] == "indexes 20.2 MiB → 64.6 MiB (3.20×)"
    writing = {"process_write_bytes": 60.0 * 2**20}
    arm = point("arm", **{**WAITS, **figures, **writing})
    assert texts(arm, base)[0].startswith("CPU 5 → 15")


def test_causes_of_arms_have_a_range_over_their_points() -> None:
    half = {"qps": 20_000.0, "avg_us": 50.0, "block_cache_hit_pct": 49.0, "reads_per_op": 0.01}
    tenth = {"qps": 14_000.0, "avg_us": 75.0, "block_cache_hit_pct": 10.5, "reads_per_op": 0.01}
    halves = [
        (point("a", **half, cpu_us_per_op=36.0), point("b")),
        (point("c", **half, cpu_us_per_op=47.0), point("d", cpu_us_per_op=4.0)),
    ]
    arms = [
        ("half", halves),
        ("tenth", [(point("e", **tenth, cpu_us_per_op=55.4), point("f"))]),
    ]
    found = causes_by_arm(arms, lambda arm, base, causes_: [])
    assert [(cause.arm, cause.text) for cause in found] == [
        ("half", "block cache misses 0.5 → 51 %"),
        ("half", "CPU 4\u20135 → 36\u201347 µs per operation"),
        ("tenth", "block cache misses 0.5 → 90 %"),
        ("tenth", "CPU 5 → 55 µs per operation"),
    ]
    assert chain_text(found) == "block cache misses 0.5 → 51 → 90 %; CPU 4\u20135 → 36\u201347 → 55 µs per operation"
    assert chain_text([*found, ArmCause("half", "device reads", "per operation", (1, 1), (2, 2))]) == chain_text(found)
    assert chain_text(causes_by_arm([("none", [])], lambda arm, base, causes_: [])) == ""


def test_an_arm_without_operations_says_what_is_missing() -> None:
    arm, base = (
        made.point(*(made.run(name, load, rate) for load in (1, 2))) for name, rate in (("arm", 1.0), ("base", 9.0))
    )
    assert chain_text(causes_by_arm([("slow", [(arm, base)])], lambda arm, base, causes_: [])) == (
        "CPU and device per operation are unknown: the step has no metric `operations`"
    )


def test_a_changed_query_plan_is_the_first_cause_of_an_arm() -> None:
    pairs = [(point("a", qps=10_000.0, avg_us=100.0, cpu_us_per_op=50.0), point("b"))]
    found = causes_by_arm([("none", pairs)], lambda arm, base, causes_: [f"{arm.step}: plan changed: A → B"])
    step = pairs[0][0].step
    assert [cause.text for cause in found] == [f"{step}: plan changed: A → B", "CPU 5 → 50 µs per operation"]
    assert chain_text(found) == f"{step}: plan changed: A → B; CPU 5 → 50 µs per operation"


# Functions and counters of the engine

OPERATIONS = 1_000.0


def changes(source: str, base: Mapping[str, float], arm: Mapping[str, float], rate: float = 500.0) -> list[str]:
    """Counts per operation; the arm at half of the base's rate."""
    rates, per = {"arm": rate, "base": 1_000.0}, {"arm": arm, "base": base}
    points = {name: counting(name, qps) for name, qps in rates.items()}
    said = {
        place: {source: {each: value * OPERATIONS for each, value in per[name].items()}}
        for name, found in points.items()
        for place in found.places
    }
    return counter_changes(said, points["arm"], points["base"])


def counting(name: str, qps: float, **figures: float) -> Point:
    known = {"cache_misses_per_op": {"arm": 0.0049, "base": 0.0033}[name], "cpu_us_per_op": 12.0} if figures else {}
    figures = {**known, **figures, "operations": OPERATIONS}
    return made.point(*(made.run(name, load, qps, **figures) for load in (1, 2, 3)))


def test_functions_that_took_the_cpu_come_first() -> None:
    base = {"Get": 4.0, "memcpy": 1.0, "read": 0.5}
    arm = {"Get": 6.0, "memcpy": 3.1, "slow_function": 1.0, "read": 0.2}
    assert changes("perf_record", base, arm) == [
        "`memcpy` 1 → 3.10 µs of CPU per operation",
        "`Get` 4 → 6 µs of CPU per operation",
        "`slow_function` 0 → 1 µs of CPU per operation",
    ]


def test_a_function_with_most_of_the_change_is_the_first_cause() -> None:
    """Few more misses of a cache, which cost less than a twentieth of it, do not stand before it."""
    arm, base = counting("arm", 55_000.0, avg_us=18.0, cpu_us_per_op=18.2), counting("base", 83_000.0, avg_us=12.0)
    functions = {"arm": {"parse": 6.1, "verify": 5.1}, "base": {"parse": 5.9}}
    growth = {
        place: {"perf_record": {function: value * OPERATIONS for function, value in functions[name].items()}}
        for name, point_ in (("arm", arm), ("base", base))
        for place in point_.places
    }
    first, *_ = causes(arm, base, growth)
    assert first.text == "`verify` 0 → 5.10 µs of CPU per operation"
    assert counter_changes(growth, arm, base) == []
    found = causes_by_arm([("slow", [(arm, base)])], lambda arm, base, causes_: [], partial(causes, growth=growth))
    assert chain_text(found).startswith("`verify` 0 → 5.1 µs of CPU per operation")


def test_waits_come_before_functions() -> None:
    points = {name: counting(name, qps) for name, qps in (("arm", 100.0), ("base", 1_000.0))}
    waits = {"arm": {"folio_wait": 300.0, "futex": 5.0, "running": 50.0}, "base": {"futex": 4.0, "running": 9.0}}
    growth = {place: {"off_cpu": waits[name]} for name, point in points.items() for place in point.places}
    assert counter_changes(growth, points["arm"], points["base"]) == [
        "`folio_wait` 0 → 300 µs of waiting per operation"
    ]


def test_of_a_faster_arm_what_it_no_longer_does() -> None:
    assert changes("perf_record", {"a": 4.0, "b": 3.0, "c": 2.0}, {"a": 4.1, "b": 0.1, "c": 0.0}, rate=2_000.0) == [
        "`c` 2 → 0 µs of CPU per operation"
    ], "`b`, with more than half of it, is a cause"


def test_counters_that_moved_most_and_of_those_that_move_together_one() -> None:
    base = {"cache.miss": 0.01, "cache.data.miss": 0.0101, "bytes.read": 400.0, "seeks": 1.0}
    arm = {"cache.miss": 0.91, "cache.data.miss": 0.9101, "bytes.read": 404.0, "seeks": 1.6}
    assert changes("engine", base, arm) == [
        "`cache.miss` 0.0100 → 0.910 per operation",
        "`seeks` 1 → 1.60 per operation",
    ]


def test_clocks_and_histograms_are_no_counters() -> None:
    """What grows with time alone is twice as much per operation of an arm at half of the rate."""
    base = {"Uptime": 0.001, "get.micros.p99": 10.0, "get.micros.sum": 5.0}
    assert changes("engine", base, {"Uptime": 0.002, "get.micros.p99": 90.0, "get.micros.sum": 50.0}) == []


def test_what_one_side_lacks_is_missing() -> None:
    assert changes("engine", {"old": 1.0}, {"new": 1.0}) == []
    assert changes("perf_record", {}, {"slow": 1.0}) == []
    assert counter_changes({}, counting("arm", 1.0), counting("base", 2.0)) == []
