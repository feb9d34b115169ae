"""Published tables, as they were."""

import pytest

from stepgrid.model.records import replace
from stepgrid.plugins.layout import Block, LayoutCell
from stepgrid.summarize.formats import FORMATS
from stepgrid_databases.layouts import arms, counters, figures
from stepgrid_databases.layouts.figures import probe_tables, relative_tables
from tests.cases import rows
from tests.layouts.made import compared, subjects, texts

SERVERS = rows(__file__, "servers")


def measured(line):
    """What vmstat and iostat must have said for such a line."""
    *figures, name = line.split()
    cpu, switches, reads, read_kb, write_kb, rate = map(float, figures)
    return name, {
        "qps": rate,
        "host_cpu_user_pct": cpu * rate,
        "host_cpu_system_pct": 0.0,
        "context_switches_per_s": switches * rate,
        "device_reads_per_s": reads * rate,
        "device_read_mb_per_s": read_kb * rate / 1024,
        "device_write_mb_per_s": write_kb * rate / 1024,
    }


@pytest.mark.parametrize("server", SERVERS)
def test_a_full_scan_per_operation_absolute_and_relative(server):
    absolute, expected, _ = SERVERS[server]
    found = arms.cost_tables(subjects(dict(map(measured, absolute.splitlines()))))
    assert texts(found[0]) == absolute.splitlines()
    assert texts(found[1]) == expected.splitlines()


@pytest.mark.parametrize("server", SERVERS)
def test_a_full_scan_by_build(server):
    absolute, _, expected = SERVERS[server]
    rates = {name: values["qps"] for name, values in map(measured, absolute.splitlines())}
    table = relative_tables(compared({"scan": list(rates.values())}, list(rates)))[0]
    assert texts(table) == [expected]
    assert table.before[0] == "Relative to: my8028"
    assert table.before[1] == "col-1 : my8040"


STALLS = {
    "speedb": (1429, 0, 1131, 2560),
    "rocksdb": (285, 0, 12585, 12870),
    "speedb, direct": (5, 22, 0, 27),
    "rocksdb, direct": (287, 0, 687, 974),
}


def test_stalls_as_they_were_published(golden):
    counted = dict.fromkeys(counters.STALL_METRICS.values(), 0.0)
    l0 = dict.fromkeys(("stall_l0_compacting_delays", "stall_l0_delays"), 1429.0)
    values = {"speedb": {**counted, **l0, "stall_pending_delays": 1131.0, "stall_delays": 2560.0}}
    golden(FORMATS["text"](counters.stall_tables(subjects(values))[0]))


def test_request_sizes_are_means_of_ratios_and_not_worked_out_from_the_rates():
    """364.4 MB/s over 6336 reads/s were printed with 52.9 KB a read: the ratio of the means is 58.9."""
    said = "device_reads_per_s device_read_mb_per_s device_read_await_ms device_read_request_kb"
    writes = "device_writes_per_s device_write_mb_per_s device_write_await_ms device_write_request_kb"
    figures = (6336, 364.4, 0.43, 52.9, 14344, 1342.0, 0.40, 95.5)
    values = dict(zip((*said.split(), *writes.split()), figures, strict=True))
    assert texts(arms.IOSTAT.tables(subjects({"speedb.udd0": values}))[0]) == [
        "6336 364.4 0.43 52.9 14344 1342.0 0.40 95.5 speedb.udd0"
    ]
    assert values["device_read_mb_per_s"] * 1024 / values["device_reads_per_s"] == pytest.approx(58.9, abs=0.05)


PROBES = rows(__file__, "probes")


@pytest.mark.parametrize("workload", PROBES)
def test_seconds_of_a_probe(workload):
    lines = [line.split() for line in PROBES[workload].splitlines()]
    spots = {
        (row, column): LayoutCell({"getmin": float(text)})
        for row, (_, *seconds) in enumerate(lines)
        for column, text in enumerate(seconds)
    }
    steps = (("l.i1",), ("q100",), ("q500",), ("q1000",))
    block = Block("t", tuple((name,) for name, *_ in lines), steps, spots, metrics=("getmin",))
    table = probe_tables(block)[0]
    assert texts(table) == PROBES[workload].splitlines()
    assert [column.name for column in table.columns] == ["config", "l.i1", "q100", "q500", "q1000"]


def test_sizes_after_a_load_of_linkbench():
    sizes = {"InnoDB": 257, "InnoDB, compressed": 168, "MyRocks": 85}
    spots = {
        (row, 0): LayoutCell({"database_bytes": size * 2.0**30}, ratios={"database_bytes": size / 257})
        for row, size in enumerate(sizes.values())
    }
    block = Block("t", tuple((name,) for name in sizes), spots=spots, metrics=("database_bytes",))
    assert texts(figures.figure_tables(block)[0]) == ["InnoDB 257 GiB", "InnoDB, compressed 168 GiB", "MyRocks 85 GiB"]
    relative_to = figures.figure_tables(replace(block, base="InnoDB"))[0]
    assert texts(relative_to) == ["InnoDB 1.00", "InnoDB, compressed 0.65", "MyRocks 0.33"]


def test_averages_of_vmstat():
    names = ("context_switches_per_s", "host_cpu_user_pct", "host_cpu_system_pct")
    more = ("host_cpu_idle_pct", "host_cpu_iowait_pct")
    lines = {"7.6.0": (1495325, 50.3, 14.0, 18.5, 0.1), "9.9.0": (2360, 82.7, 14.0, 16.6, 0.1)}
    values = {name: dict(zip((*names, *more), figures, strict=True)) for name, figures in lines.items()}
    table = arms.VMSTAT.tables(subjects(values))[0]
    assert [column.name for column in table.columns] == ["cs", "us", "sy", "us+sy", "id", "wa", "version"]
    assert texts(table) == ["1495325 50.3 14.0 64.3 18.5 0.1 7.6.0", "2360 82.7 14.0 96.7 16.6 0.1 9.9.0"]
