import random

import pytest

from stepgrid_databases.drivers.sysbench.output import summary
from stepgrid_importers.sysbench import names, rates
from stepgrid_importers.sysbench.names import Test as Benchmark
from stepgrid_importers.sysbench.rates import Scan
from stepgrid_importers.sysbench.summaries import relative
from tests.importers.made import COMMAND, sysbench

# a published table of a full scan on three servers: cpu/o cs/o r/o rKB/o wKB/o o/s, then the ratios to the first row
SERVERS = """\
0.093496 3.256 0 0 0.006 246 my8028
0.106105 4.065 0 0 0.006 225 my8040 : 1.13 1.25 1 1 1.00 0.91
0.113878 4.344 0 0 0.006 208 my8040adv_pre : 1.22 1.33 1 1 1.00 0.85
0.101104 3.978 0 0 0.006 228 my8040adv_post : 1.08 1.22 1 1 1.00 0.93

0.018767 0.552 0 0 0.052 872 my8028
0.022533 0.800 0 0 0.013 725 my8040 : 1.20 1.45 1 1 0.25 0.83
0.022499 0.808 0 0.001 0.034 727 my8040adv_pre : 1.20 1.46 1 inf 0.65 0.83
0.019305 0.731 0 0 0.03 851 my8040adv_post : 1.03 1.32 1 1 0.58 0.98

0.222553 2.534 0 0.001 0.035 55 my8028
0.285792 7.622 0 0 0.041 43 my8040 : 1.28 3.01 1 0.00 1.17 0.78
0.246404 6.475 0 0 0.036 50 my8040adv_post : 1.11 2.56 1 0.00 1.03 0.91
"""


@pytest.mark.parametrize("server", SERVERS.split("\n\n"), ids=("dell32", "ax162-s", "bee"))
def test_ratios_that_were_published(server):
    base, *others = server.strip().split("\n")
    first = [float(figure) for figure in base.split()[:6]]
    for line in others:
        given, _, ratios = line.partition(" : ")
        *figures, name = given.split()
        cpu, *rest = ratios.split()
        assert relative([float(figure) for figure in figures], first, name) == "\t".join([cpu, "", *rest, name])


def test_rows_are_in_the_published_order(published):
    lines = (published("sysbench") / "qps.abs.my.latest.tsv").read_text(encoding="utf-8").split("\n")[7:-1]
    rows = [line.split("\t")[-1] for line in lines]
    parsed = [found for row in rows if (found := names.row(row))]
    tests = [Benchmark(name, size, "1", "40") for name, size in parsed]
    random.Random(1).shuffle(tests)
    assert [test.row for test in names.ordered(tests)] == rows
    assert len(rows) == 33


# 4 clients, 8 scans per second of tables of 1000 rows, each in half a second
TIMED = rates.scan(COMMAND, summary(sysbench("8.00", "500.00")))


@pytest.mark.parametrize(
    ("name", "value"), [(rates.BY_EVENT, 2 * 1000 / 5 / 1000), (rates.OF_ALL, 8.0), (rates.OF_ONE, 2.0)]
)
def test_three_definitions_of_one_run(name, value):
    assert isinstance(TIMED, Scan)
    assert rates.DEFINITIONS[name](TIMED) == pytest.approx(value)


def test_ours_counts_the_rows_of_all_clients():
    assert isinstance(TIMED, Scan)
    assert rates.rows_per_s(TIMED) == 8000.0


def test_what_was_published_tells_the_definition():
    assert isinstance(TIMED, Scan)
    assert rates.scan_definition(TIMED, 8.0) == "of all clients (early 2025)"
    assert rates.scan_definition(TIMED, 0.4) == "by event (2024)"
    assert rates.scan_definition(TIMED, None) == "of one client (since late 2025)"


def test_a_number_of_events_is_of_2024():
    old = rates.scan(COMMAND.replace("--events=0", "--events=2"), summary(sysbench()))
    assert isinstance(old, Scan)
    assert rates.scan_definition(old, None) == rates.BY_EVENT
