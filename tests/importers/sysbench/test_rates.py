import pytest

from stepgrid_databases.drivers.sysbench.output import summary
from stepgrid_importers.sysbench import rates
from stepgrid_importers.sysbench.rates import Scan
from tests.importers.made import COMMAND, sysbench

# 4 clients, 8 scans per second of tables of 1000 rows, each in half a second
TIMED = rates.scan(COMMAND, summary(sysbench("8.00", "500.00")))


@pytest.mark.parametrize(
    ("name", "value"), [(rates.BY_EVENT, 2 * 1000 / 5 / 1000), (rates.OF_ALL, 8.0), (rates.OF_ONE, 2.0)]
)
def test_three_definitions_of_one_run(name: str, value: float) -> None:
    assert isinstance(TIMED, Scan)
    assert rates.DEFINITIONS[name](TIMED) == pytest.approx(value)


def test_ours_counts_the_rows_of_all_clients() -> None:
    assert isinstance(TIMED, Scan)
    assert rates.rows_per_s(TIMED) == 8000.0


def test_what_was_published_tells_the_definition() -> None:
    assert isinstance(TIMED, Scan)
    assert rates.scan_definition(TIMED, 8.0) == "of all clients (early 2025)"
    assert rates.scan_definition(TIMED, 0.4) == "by event (2024)"
    assert rates.scan_definition(TIMED, None) == "of one client (since late 2025)"


def test_a_number_of_events_is_of_2024() -> None:
    old = rates.scan(COMMAND.replace("--events=0", "--events=2"), summary(sysbench()))
    assert isinstance(old, Scan)
    assert rates.scan_definition(old, None) == rates.BY_EVENT
