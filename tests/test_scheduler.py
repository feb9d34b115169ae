"""Which tests one process takes together, and which come first."""

from tests.scheduler import SPEEDS, Scheduler, order


def test_speeds_are_one_share_and_so_is_each_other_file() -> None:
    split = Scheduler._split_scope
    shares = {
        "tests/integration/test_fio.py::test_a": "tests/integration/test_fio.py",
        "tests/integration/test_verdicts.py::test_d[x::y]": SPEEDS[0],
        "tests/integration/test_axis_search.py::test_e": SPEEDS[0],
        "tests/host/test_facts.py::test_c[a/b.py]": "tests/host/test_facts.py",
    }
    scheduler = Scheduler.__new__(Scheduler)
    assert {name: split(scheduler, name) for name in shares} == shares
    assert next(iter(sorted(shares, key=order))).startswith("tests/integration/")
