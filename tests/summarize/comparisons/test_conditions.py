"""What a reader must know of a ratio, and where there is no verdict: hosts, times, runs, and what steps began with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from stepgrid.model.metrics import CLIENT_CPU, SERVER_CPU
from stepgrid.summarize.comparisons.conditions import Conditions, has_heavier_client, missed_rate
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run, Tables
from tests.summarize.made import point, run

GIB, MIB = 2.0**30, 2**20
ARM, BASE = point(run("x", 0, 100.0)), point(run("y", 0, 100.0))
Facts = Mapping[str, Mapping[str, str]]


def conditions(facts: Mapping[str, Facts] = {}, **more: Any) -> Conditions:
    return Conditions(Tables((), {}, facts), **more)


def hosts(arm: Mapping[str, str], base: Mapping[str, str], **more: Any) -> Conditions:
    return conditions({"host": {"s-x-0-0/1": arm, "s-y-0-0/1": base}}, **more)


def marks(found: Conditions, arm: Point = ARM, base: Point = BASE) -> tuple[str, ...]:
    return found.marks(arm, base, shares_loads=False)


# Hosts


def test_settings_that_differ_are_told_the_base_first() -> None:
    arm = {"hostname": "one", "kernel": "6.12", "governor": "performance"}
    base = {"hostname": "two", "kernel": "6.1", "governor": "powersave"}
    assert hosts(arm, base).refusal(ARM, BASE) == "measured on different hosts"
    assert marks(hosts(arm, base)) == ("kernel 6.1 / 6.12", "governor powersave / performance")
    assert marks(hosts(arm, arm)) == marks(hosts(arm, {})) == ()


def test_a_host_is_a_block_where_each_load_was_measured_on_one() -> None:
    """Ratios are of one load at a time, so hosts that differ between loads are not in them."""
    arm, base = (point(*(run(name, load, 100.0) for load in (0, 1))) for name in "xy")
    names = {"s-x-0-0/1": "n1", "s-y-0-0/1": "n1", "s-x-1-0/1": "n2", "s-y-1-0/1": "n2"}
    facts = {subject: {"hostname": name} for subject, name in names.items()}
    assert conditions({"host": facts}).refusal(arm, base) is None
    third = facts | {"s-y-1-0/1": {"hostname": "n3"}}
    assert conditions({"host": third}).refusal(arm, base) == "measured on different hosts"
    alone = point(run("y", 1, 100.0))
    assert conditions({"host": facts}).refusal(ARM, alone) == "measured on different hosts", "no load in common"


def test_another_processor_under_the_same_name_is_another_host() -> None:
    one, other = ({"hostname": "bench", "hardware": json.dumps({"cpu": cpu, "cores": 8})} for cpu in ("EPYC", "Xeon"))
    assert hosts(one, one).refusal(ARM, BASE) is None
    assert hosts(other, one).refusal(ARM, BASE) == "measured on different hosts: CPU EPYC / Xeon"


def test_where_hardware_is_compared_there_is_a_mark_alone() -> None:
    names = {"hostname": "one"}, {"hostname": "two"}
    variants = hosts(*names, machines={"s-x-0-0": "h-big", "s-y-0-0": "h-small"})
    for found in (variants, hosts(*names, across_hosts=True)):
        assert (found.refusal(ARM, BASE), marks(found)) == (None, ("another host",))
    speeds = {"fsync_us": "95.0", "memory_gib_per_s": "24.1"}, {"fsync_us": "410.0", "clock_mhz": "3400"}
    both = [{**name, **speed} for name, speed in zip(names, speeds, strict=True)]
    assert marks(hosts(*both, across_hosts=True)) == ("another host", "fsync 410 / 95 µs")
    same = hosts(*names, machines={"s-x-0-0": "h-big", "s-y-0-0": "h-big"})
    assert same.refusal(ARM, BASE) == "measured on different hosts"


# Times


def test_figures_more_than_a_week_apart_are_marked() -> None:
    late = point(run("x", 0, 100.0, minutes=8 * 1440))
    assert marks(conditions(), late) == ("measured 8d00h from the base",)
    assert marks(conditions(within=9 * 86400.0), late) == ()
    assert marks(conditions(within=60.0), late) == ("measured 8d00h from the base",)


def test_an_arm_that_was_measured_again_alone_is_marked_by_its_gap() -> None:
    """Loads three minutes apart, and one arm of them 16 to 32 minutes later."""
    base = point(*(run("y", load, 100.0, minutes=3.0 * load) for load in range(3)))
    block = point(*(run("x", load, 100.0, minutes=3.0 * load + 1) for load in range(3)))
    later = point(*(run("x", load, 100.0, minutes=3.0 * load + gap) for load, gap in enumerate((16, 24, 32))))
    assert marks(conditions(), block, base) == ()
    assert marks(conditions(), later, base) == ("measured 32m00s from the base",)
    assert marks(conditions(within=3600.0), later, base) == ()
    slow, late = (
        point(*(run(c, load, 100.0, minutes=120.0 * load + at) for load in range(3))) for c, at in (("y", 0), ("x", 90))
    )
    assert marks(conditions(), late, slow) == (), "no farther apart than loads of this experiment"


# Runs


def test_runs_without_a_steady_state_are_counted() -> None:
    steady, not_steady = {"steady_change_pct": 1.0, "steady_from_s": 5.0}, {"steady_change_pct": -20.0}
    arm = point(run("x", 0, 100.0, **not_steady), run("x", 1, 100.0, **steady), run("x", 2, 100.0))
    assert marks(conditions(), arm) == ("no steady state in 1 of 2 runs (those of the base are too short to tell)",)
    text = "no steady state in 1 of 2 runs of the base (those of this arm are too short to tell)"
    assert marks(conditions(), BASE, arm) == (text,)
    assert marks(conditions(), arm, arm) == ("no steady state in 1 of 2 runs, in 1 of 2 of the base",)


def test_runs_with_missed_lookups_or_a_heavy_client_are_counted() -> None:
    warning = ("found 0.1 % of the keys that it looked up; 100 % were expected",)
    missed = replace(run("x", 0, 1.0, found_pct=0.1, found_expected_pct=100.0), warnings=warning)
    arm = point(missed, run("x", 1, 1.0, **{CLIENT_CPU: 2.0, SERVER_CPU: 1.0}))
    base = point(run("y", 0, 1.0, **{CLIENT_CPU: 1.0, SERVER_CPU: 1.0}))
    assert marks(conditions(), arm, base) == (
        "fewer keys found than expected in 1 of 2 runs, in 0 of 1 of the base",
        "the client used more CPU than its server in 1 of 2 runs, in 0 of 1 of the base",
    )
    assert marks(conditions(), base, base) == ()
    assert not has_heavier_client(run("x", 0, 1.0, **{CLIENT_CPU: 2.0}))
    assert not has_heavier_client(run("x", 0, 1.0, **{SERVER_CPU: 2.0}))


def test_a_rate_that_clients_did_not_reach() -> None:
    def inserts(*rates: float) -> Point:
        metrics = ({"inserts_per_s": rate, "target_inserts_per_s": 4000.0} for rate in rates)
        return point(*(run("x", load, 100.0, **figures) for load, figures in enumerate(metrics)))

    slow, fast = inserts(3900.0, 2800.0, 2700.0), inserts(3999.0)
    assert missed_rate(slow) == "3,089 of 4,000 rows/s"
    assert missed_rate(fast) == missed_rate(BASE) == ""
    assert marks(conditions(), slow, fast) == ("rate missed: 3,089 of 4,000 rows/s",)
    assert marks(conditions(), fast, slow) == ("rate missed of the base: 3,089 of 4,000 rows/s",)


# What steps began with


def began(
    arm: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    base: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    shares_loads: bool = True,
) -> list[str]:
    """Marks by states of each run; `bytes`, `files` and `resident` are of the files, all else of the step."""
    facts: dict[str, dict[str, dict[str, str]]] = {"start": {}, "step start": {}}
    sides: list[Point] = []
    for name, states in (("a", arm), ("b", base)):
        known = [states] * 3 if isinstance(states, Mapping) else list(states)
        runs: list[Run] = [run(name, load, 100.0) for load in range(len(known))]
        for found, state in zip(runs, known, strict=True):
            result = f"{found.place[0]}/{found.attempt}"
            files = {key: str(int(state[key])) for key in ("bytes", "files", "resident") if key in state}
            facts["start"][result] = files
            facts["step start"][f"{result}/0"] = {
                "state": json.dumps({k: v for k, v in state.items() if k not in files})
            }
        sides.append(point(*runs))
    return list(conditions(facts).marks(*sides, shares_loads))


def files(size: float, number: int | None = 40, resident: float | None = None) -> dict[str, float]:
    known = {"bytes": size, "files": number, "resident": resident}
    return {name: value for name, value in known.items() if value is not None}


LEVELED = {"L1": [12, 310 * MIB]}
OF_SHARED_LOADS = [
    (files(1.2 * GIB, 34), files(1.5 * GIB, 51), "began from 1.2 GiB in 34 files, the base from 1.5 GiB in 51 files"),
    ({"data_bytes": 2 * GIB, "index_bytes": 0.4 * GIB, "rows": 10e6},
     {"data_bytes": 2.4 * GIB, "index_bytes": 0.5 * GIB, "rows": 10.1e6},
     "began with 2.4 GiB in tables and indexes for 10,000,000 rows, the base with 2.9 GiB for 10,100,000"),
    ({"data_bytes": GIB, "rows": 4e6}, {"data_bytes": GIB, "rows": 5e6},
     "began with 1 GiB in tables and indexes for 4,000,000 rows, the base with 1 GiB for 5,000,000"),
    ({"levels": {"L0": [1, 96 * MIB], "L1": [9, 230 * MIB], "L10": [2, 20 * MIB]}}, {"levels": LEVELED},
     "began with 1 file of 96 MiB in L0, 9 of 230 MiB in L1 and 2 of 20 MiB in L10, "
     "the base with 12 files of 310 MiB in L1"),
    ({"levels": {"L0": [5, 5 * MIB], **LEVELED}}, {"levels": {"L0": [1, MIB], **LEVELED}},
     "began with 5 files of 5 MiB in L0 and 12 of 310 MiB in L1, "
     "the base with 1 file of 1 MiB in L0 and 12 of 310 MiB in L1"),
]  # fmt: skip
OF_ANY = [
    (files(GIB, resident=0.12 * GIB), files(GIB, resident=0.8 * GIB),
     "began with 12 % of its database in the page cache, the base with 80 %"),
    ({"data_bytes": GIB, "cached_bytes": 0.06 * GIB, "cache_bytes": 0.5 * GIB},
     {"data_bytes": GIB, "cached_bytes": 1.9 * GIB, "cache_bytes": 2 * GIB},
     "began with a server's cache that held 12 % of what fits, the base with 100 %"),
    ({"history_list_length": 48_000}, {"history_list_length": 12},
     "began with 48,000 transactions in the history list, the base with 12"),
    ({"dead_rows": 40_000.0, "rows": 200_000.0}, {"dead_rows": 0.0, "rows": 200_000.0},
     "began with 40,000 dead rows beside 200,000 live ones, the base with 0 beside 200,000"),
    ([{"vacuums": 0.0, "tables_to_vacuum": 2.0}] * 2 + [{"vacuums": 0.0}],
     [{"vacuums": 0.0, "tables_to_vacuum": 0.0}] * 2,
     "a vacuum was at work or due as 2 of 3 runs began, as 0 of 2 of the base"),
]  # fmt: skip


@pytest.mark.parametrize(("arm", "base", "text"), [*OF_SHARED_LOADS, *OF_ANY])
def test_steps_that_began_with_something_else(arm: Any, base: Any, text: str) -> None:
    """Loads of their own may differ by what is compared; of any arms what is cached or left to do is told."""
    assert began(arm, base) == [text]
    assert began(arm, base, shares_loads=False) == ([text] if (arm, base, text) in OF_ANY else [])


@pytest.mark.parametrize(
    ("arm", "base"),
    [
        (files(GIB, 40, 0.5 * GIB), files(1.01 * GIB, 40, 0.55 * GIB)),
        (files(GIB, None), files(GIB, 40, 0.5 * GIB)),
        (files(0, 0, 0), files(0, 0, 0)),
        (files(GIB), {}),
        ({"history_list_length": 900}, {"history_list_length": 12}),
        ({"history_list_length": 48_000}, {"history_list_length": 30_000}),
        ({"dead_rows": 4000.0, "rows": 200_000.0}, {"dead_rows": 0.0, "rows": 200_000.0}),
        ({"dead_rows": 9.0}, {}),
        (
            {"data_bytes": GIB, "cached_bytes": 0.5 * GIB, "cache_bytes": 0.5 * GIB},
            {"data_bytes": GIB, "cached_bytes": 1.9 * GIB, "cache_bytes": 2 * GIB},
        ),
        ({"data_bytes": 0.0, "rows": 0.0, "cached_bytes": 0.0, "cache_bytes": 0.0}, {"data_bytes": GIB, "rows": 5e6}),
        ([{"vacuums": 1.0}, {"vacuums": 0.0}, {"vacuums": 0.0}], {"vacuums": 0.0}),
        ({"levels": {"L0": [2, 20 * MIB], "L1": [11, 300 * MIB]}}, {"levels": LEVELED}),
        ([{"levels": {"L0": [9, 310 * MIB]}}, *[{"levels": LEVELED}] * 2], {"levels": LEVELED}),
        ({"levels": LEVELED}, {}),
    ],
)
def test_what_is_alike_or_not_known_is_not_told(arm: Any, base: Any) -> None:
    assert began(arm, base) == began(base, arm) == []


# Work


def of_kind(kind: str, name: str, **metrics: float) -> Point:
    return point(replace(run(name, 0, 100.0), kind=kind, metrics={"qps": 100.0, **metrics}))


@pytest.mark.parametrize(
    ("kind", "arm", "base", "text"),
    [
        ("db_bench", {"found_pct": 1.9}, {"found_pct": 100.0}, "1.9 % of the keys found, 100 % of the keys found"),
        ("db_bench", {"found_pct": 99.2}, {"found_pct": 100.0}, None),
        ("command", {"errors": 900.0, "operations": 1e3}, {"errors": 0.0, "operations": 1e3}, "90 % of the operations"),
        ("command", {"operations": 1e3}, {"errors": 0.0, "operations": 1e3}, None),  # missing is missing
        (
            "sysbench",
            {"write_queries": 0.0, "transactions": 500.0},
            {"write_queries": 400.0, "transactions": 100.0},
            "0 changes of rows in 100 transactions, 400 changes",
        ),
        (
            "pgbench",
            {"failed_transactions": 90.0, "operations": 0.0},
            {"failed_transactions": 0.0, "operations": 90.0},
            "100 % of the transactions failed, 0 %",
        ),
        (
            "tpcc",
            {"skipped_deliveries": 39.0, "operations": 100.0},
            {"skipped_deliveries": 0.0, "operations": 900.0},
            "39 districts without an order to deliver in 100 transactions, 0 districts",
        ),
        (
            "tpcc",
            {"new_order_share_pct": 30.0, "operations": 5000.0},
            {"new_order_share_pct": 45.0, "operations": 5000.0},
            "30 % of the transactions were new_order, 45 %",
        ),
        (  # by chance, of so few
            "tpcc",
            {"new_order_share_pct": 30.0, "rolled_back_orders": 2.0, "operations": 30.0},
            {"new_order_share_pct": 45.0, "rolled_back_orders": 9.0, "operations": 2000.0},
            None,
        ),
        (
            "linkbench",
            {"getlinklist_share_pct": 40.0, "operations": 5000.0},
            {"getlinklist_share_pct": 50.7, "operations": 5000.0},
            "40 % of the requests were getlinklist, 50.7 %",
        ),
        (
            "insert_benchmark",
            {"rows_deleted": 20.0, "rows_inserted": 1000.0},
            {"rows_deleted": 4000.0, "rows_inserted": 4000.0},
            "2 rows deleted for 100 inserted, 100 rows",
        ),
        ("insert_benchmark", {"rows_inserted": 1000.0}, {"rows_inserted": 4000.0}, None),
        ("vector_search", {"recall": 0.7}, {"recall": 0.95}, "recall 0.7, recall 0.95 by the base"),
        ("a-kind-of-somebody", {"found_pct": 1.9}, {"found_pct": 100.0}, None),
    ],
)
def test_arms_that_did_other_work_are_not_compared(
    kind: str, arm: Mapping[str, float], base: Mapping[str, float], text: str | None
) -> None:
    points = of_kind(kind, "x", **arm), of_kind(kind, "y", **base)
    refusal = conditions().refusal(*points)
    assert refusal is None if text is None else (refusal or "").startswith(f"did other work: {text}")
    declared = conditions(declared_work=lambda place: place)  # the spec asks each for something else
    assert declared.refusal(*points) is None


@pytest.mark.parametrize(
    ("arm", "base", "text"),
    [
        (
            {"data_bytes": 2.0**24, "rows": 0.0},
            {"data_bytes": 2.0**30, "rows": 5e6},
            "a database of 0 rows, the base with 5",
        ),
        ({"data_bytes": 2.0**24}, {"data_bytes": 2.0**30}, "a database of 16 MiB, the base with 1 GiB"),
        ({"data_bytes": 2.0**29}, {"data_bytes": 2.0**30}, None),  # a compression, say
        ({"rows by table": {"t": 0, "u": 9}}, {"rows by table": {"t": 5e3}}, "0 rows in t, the base with 5,000"),
        ({"rows by table": {"t": 0}}, {"rows by table": {"t": 900}}, None),  # a step before did some
        ({"rows by table": {"t": 9}}, {"rows by table": {"t": 5e3}}, None),
    ],
)
def test_a_database_that_is_all_but_empty_is_other_work(
    arm: Mapping[str, float], base: Mapping[str, float], text: str | None
) -> None:
    facts = {f"s-{name}-0-0/1/0": {"state": json.dumps(state)} for name, state in (("x", arm), ("y", base))}
    refusal = conditions({"step start": facts}).refusal(ARM, BASE)
    assert refusal is None if text is None else (refusal or "").startswith(f"did other work: began with {text}")
