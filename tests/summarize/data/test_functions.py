"""CPU by function: plain names, renamed functions, sums and intervals."""

import pytest

from stepgrid.summarize.data.functions import function_rows, plain_name, wait_rows
from tests import cases
from tests.summarize import made

OPERATIONS = 1_000.0


@pytest.mark.parametrize(("symbol", "name"), cases.rows(__file__, "compilers_do_not_differ_in_a_plain_name"))
def test_compilers_do_not_differ_in_a_plain_name(symbol, name):
    assert plain_name(symbol) == name


def profiled(name, *loads, cpu=0.0):
    """Microseconds per operation of each load."""
    figures = {"cpu_us_per_op": cpu} if cpu else {}
    point = made.point(*(made.run(name, load, 500.0, operations=OPERATIONS, **figures) for load in range(len(loads))))
    growth = {
        place: {"perf_record": {symbol: time * OPERATIONS for symbol, time in times.items()}}
        for place, times in zip(point.places, loads, strict=True)
    }
    return point, growth


def rows(*arms, top=15):
    points, growth = [point for point, _ in arms], {place: of for _, each in arms for place, of in each.items()}
    made_rows = function_rows(points, 0, growth, top)
    return [
        {name: tuple(round(value, 6) for value in time if value is not None) for name, time in arm.items()}
        for arm in made_rows
    ]


def test_the_largest_change_comes_first_and_all_adds_up():
    base = profiled("base", {"Get": 4.0, "memcpy": 1.0, "read": 0.5, "[libz]": 0.25}, cpu=5.8)
    arm = profiled("arm", {"Get": 5.0, "memcpy": 1.125, "slow": 6.0, "[libz]": 0.25}, cpu=12.5)
    shown = rows(base, arm, top=2)
    names = ["slow", "Get", "other functions", "unresolved", "sum", "measured CPU"]
    assert [list(each) for each in shown] == [names, names]
    assert list(shown[1].values()) == [
        (6.0, 6.0),
        (5.0, 1.0),
        (1.125, -0.375),
        (0.25, 0.0),
        (12.375, 6.625),
        (12.5, 6.7),
    ]
    assert shown[0]["other functions"] == (1.5,)


def test_the_interval_is_of_the_differences_by_load():
    """Student's t of 2, 3 and 4: 3 ± 4.303 / sqrt(3)."""
    base = profiled("base", {"Get": 1.0}, {"Get": 2.0}, {"Get": 3.0})
    arm = profiled("arm", {"Get": 3.0}, {"Get": 5.0}, {"Get": 7.0})
    assert rows(base, arm)[1]["Get"] == (5.0, 3.0, pytest.approx(2.484, abs=1e-3))


def test_a_renamed_function_is_no_change():
    base = profiled("base", {"db::Iter::Next(int)": 3.0, "db::Iter::Key": 1.0, "db::Put": 1.0})
    arm = profiled("arm", {"db::Iter::NextImpl<true>(int)": 3.1, "db::Iter::Key": 1.0, "db::Put": 1.0})
    assert rows(base, arm)[1]["db::Iter::{NextImpl, Next}"] == (3.1, 0.1)


@pytest.mark.parametrize(("sampled", "client"), [({}, 2.0), ({"[client]": 1.9}, 1.9)])
def test_the_client_of_a_profiled_server_is_a_row(sampled, client):
    point = made.point(made.run("a", 0, 500.0, operations=1.0, cpu_us_per_op=7.0, client_cpu_us_per_op=2.0))
    shown = function_rows([point], None, {point.places[0]: {"perf_record": {"Get": 5.0, **sampled}}})[0]
    assert {name: time.microseconds for name, time in shown.items()} == {
        "Get": 5.0,
        "client": client,
        "sum": 5.0 + client,
        "measured CPU": 7.0,
    }


def test_the_largest_change_of_a_wait_comes_first_and_running_last():
    times = {
        "none": {"running": 9.0, "futex": 4.0, "ep_poll": 1.0, "rare": 0.01},
        "sync": {"running": 12.0, "futex": 5.0, "folio_wait": 300.0, "waiting for a CPU": 2.0},
    }
    points = [made.point(made.run(name, 0, 500.0)) for name in times]
    growth = {point.places[0]: {"off_cpu": times[name]} for name, point in zip(times, points, strict=True)}
    base, arm = wait_rows(points, 0, growth)
    changes = {name: time.change for name, time in arm.items()}
    assert changes == pytest.approx({"folio_wait": 300.0, "other waits": 1.99, "running": 3.0, "sum": 304.99})
    assert [*base] == [*arm]
    assert arm["sum"].microseconds == 319.0
