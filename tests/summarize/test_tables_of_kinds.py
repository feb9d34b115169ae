"""The tables that a kind of step has without being asked for: sysbench, the insert benchmark, commands, probes."""

import pytest

from stepgrid.model.plan import PlannedAxis
from stepgrid.model.records import replace
from stepgrid.summarize import report_tables
from stepgrid.summarize.data.tables_reader import StepDetails
from stepgrid.summarize.formats import text_table
from stepgrid.summarize.report_tables import TableInputs
from tests.summarize import made

AXES = (PlannedAxis("server", ("my", "pg")), PlannedAxis("range", ("10", "100"), ("read-only.pre", "read-only")))
STEPS = (
    ("load", {}, {"insert_seconds": 2.0, "seconds": 2.5, "data_bytes": 1.0}),
    ("settle", {}, {"data_bytes": 2.0**20, "database_bytes": 3.0 * 2**20}),
    ("scan.pre", {}, {"rows_per_s": 7000.0}),
    ("read-only.pre", {"range": "10"}, {}),
    ("read-only.pre", {"range": "100"}, {}),
    ("update-one", {}, {"ignored_errors": 4.0}),
    ("scan", {}, {"rows_per_s": 5000.0, "database_bytes": 4.0 * 2**20}),
    ("read-only", {"range": "10"}, {}),
    ("read-only", {"range": "100"}, {"database_bytes": 5.0 * 2**20}),
)
CPU = {"server_cpu_us_per_op": 20.5, "client_cpu_us_per_op": 7.0}
HOST = {"host_cpu_user_pct": 50.0, "host_cpu_system_pct": 50.0, "context_switches_per_s": 500.0}


def sysbench(server, index):
    step, variables, metrics = STEPS[index]
    is_measured = step not in ("load", "settle")
    qps = (100.0 if server == "my" else 150.0) + 10 * index
    return replace(
        made.run(server, 0, qps, **(CPU | HOST if is_measured else {}), **metrics),
        labels={"server": server, **variables},
        step=step,
        kind="quiesce" if step == "settle" else "sysbench",
        measured=is_measured,
        place=(f"s-{server}", index),
    )


RUNS = [sysbench(server, index) for server in ("my", "pg") for index in range(len(STEPS))]


def tables(runs=RUNS, requests=(), axes=AXES):
    return report_tables.tables(requests, TableInputs(axes, {"server": "my"}, made.tables(runs)))[0]


def rows(table):
    return [" ".join(cell.text for cell in row) for row in table.rows]


def test_sysbench(golden):
    """Show rates by group with the range in the name, the load with the sizes after the wait, errors and costs."""
    shown = tables()
    assert {table.title for table in shown} == {
        *("relative QPS by group", "QPS by group", "QPS after what writes, relative to before it"),
        *("load and sizes", "errors and reconnects", "CPU per operation", "per operation"),
    }
    golden("\n".join(map(text_table, shown)))


def test_ratios_are_geometric_means_over_the_loads():
    """Medians would give 300 / 200: 1.50."""
    rates = (100.0, 200.0, 400.0), (300.0, 150.0, 800.0)
    runs = [
        replace(sysbench("my", 2), step=step, load=load, place=(f"s-{load}", index), metrics={"qps": qps})
        for index, step in enumerate(("scan.pre", "scan"))
        for load, qps in enumerate(rates[index])
    ]
    (table,) = tables(runs, [{"layout": "before_after"}])
    assert rows(table) == ["1.65 scan"]
    assert table.rows[0][0].value == pytest.approx((3.0 * 0.75 * 2.0) ** (1 / 3))
    inserts = [
        replace(made.run(server, load, 0.0), labels={"server": server}, kind="insert_benchmark",
                metrics={"inserts_per_s": rate})
        for index, server in enumerate(("my", "pg"))
        for load, rate in enumerate(rates[index])
    ]  # fmt: skip
    (table,) = (
        table
        for table in tables(inserts, [{"layout": "insert_benchmark"}], AXES[:1])
        if table.block.startswith("relative to")
    )
    assert rows(table) == ["my 1.00", "pg 1.65"]


def test_inserts_of_arms_outside_the_base_are_tables_of_their_own():
    """Hold all servers of so many clients to the base, wherever its row is."""
    rates = {("pg", "1"): 300.0, ("my", "1"): 100.0, ("pg", "2"): 500.0, ("my", "2"): 400.0}
    runs = [
        replace(
            made.run(f"{server}{clients}", 0, rate),
            labels={"server": server, "clients": clients},
            kind="insert_benchmark",
            metrics={"inserts_per_s": rate, "target_inserts_per_s": 400.0 * int(clients), "qps": rate},
        )
        for (server, clients), rate in rates.items()
    ]
    axes = (PlannedAxis("server", ("pg", "my")), PlannedAxis("clients", ("1", "2")))
    by_block = {table.block: rows(table) for table in tables(runs, [{"layout": "insert_benchmark"}], axes)}
    assert by_block["clients=1, relative to my"] == ["pg 3.00", "my 1.00"]
    assert by_block["clients=2, relative to my"] == ["pg 1.25", "my 1.00"]
    assert by_block["clients=1, insert rate against target"] == ["target 400", "pg 300*", "my 100*"]
    assert by_block["clients=2, throughput"] == ["pg 500*", "my 400*"]


# Commands, whose absolute figures have three percentiles alone, and metrics that the spec names.


def command(step, mode, **metrics):
    row = made.run(mode, 0, 100.0, **metrics)
    return replace(row, labels={"server": mode}, step=step, kind="command", place=(f"s-{mode}", int(step == "read")))


def test_all_response_times_of_a_command_are_one_table():
    runs = (
        command("read", "my", avg_us=587.3, p50_us=169.6, max_us=40000.0),
        command("read", "pg", avg_us=880.0),
        command("write", "my", p99_us=5.0),  # stands in the absolute figures
    )
    (table,) = tables(runs, axes=AXES[:1])
    assert (table.name, table.notes) == ("response time: read", ("avg, p50, max: us",))
    assert [column.name for column in table.columns] == ["server", "avg", "p50", "max"]
    assert rows(table) == ["my 587 170 40,000", "pg 880 - -"]


class Times(StepDetails):
    @property
    def response_times(self):
        return {(f"s-{number}", 0): {"query": [100.0, *[0.0] * 9]} for number in range(3)}


def test_classes_of_response_times_are_of_loads_that_all_kept_up():
    made_runs = [made.run("aabb"[load], load, 9.0, target_met=float(load < 3)) for load in range(4)]
    runs = [replace(run, labels={"server": run.cell}, place=(f"s-{run.load}", 0)) for run in made_runs]
    inputs = TableInputs((PlannedAxis("server", ("a", "b")),), {}, made.tables(runs, details=Times()))
    found, _ = report_tables.tables([{"layout": "response_times"}], inputs)
    table = next(table for table in found if "response times by class" in table.name)
    assert [line.split()[0] for line in rows(table)] == ["100.000", "-"]
    assert table.notes[-1] == "not all loads kept up with their rate: b"


# Probes: their seconds by step, and what was counted around them.


class Counters(StepDetails):
    def named_counters(self, patterns):
        assert list(patterns) == ["min_trx.*", "other.*"]
        return {
            ("s-base", 0): {"min_trx.SKIPPED": 36144100.0, "min_trx.SEEKS": 1.0},
            ("s-sd8k", 0): {"min_trx.SKIPPED": 14.0, "min_trx.SEEKS": 1.0},
        }


def probed(gc, **seconds):
    return replace(made.run(gc, 0, 100.0, **seconds), labels={"gc": gc}, step="q100", kind="sql", place=(f"s-{gc}", 0))


def probe_tables(runs, **more):
    inputs = TableInputs((PlannedAxis("gc", ("base", "sd8k")),), {"gc": "base"}, made.tables(runs, **more))
    return [(table.name, rows(table)) for table in report_tables.tables([], inputs)[0]]


def test_seconds_of_a_probe_and_what_was_counted_around_it():
    runs = [probed("base", min_trx=8.206), probed("sd8k", min_trx=0.196)]
    assert probe_tables(runs, details=Counters(), probes=("min_trx", "other")) == [
        ("probe min_trx", ["base 8.206", "sd8k 0.196"]),
        ("most of what was counted around min_trx: q100", ["min_trx.SKIPPED 36144100 14", "min_trx.SEEKS 1 1"]),
        ("most of what was counted around min_trx: q100", ["0.000 min_trx.SKIPPED", "1.000 min_trx.SEEKS"]),
    ]
