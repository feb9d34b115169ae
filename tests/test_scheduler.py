"""Which tests one process takes together."""

from tests.scheduler import ENGINES, ROWS, Scheduler


def test_real_engines_are_one_share_and_so_is_each_other_file() -> None:
    split = Scheduler._split_scope
    shares = {
        "tests/integration/test_chaos.py::test_a": ENGINES,
        "tests/integration/test_fio.py::test_b[x::y]": ENGINES,
        "tests/integration/test_linkbench_draws.py::test_d": ROWS[0],
        "tests/integration/test_insert_benchmark_kills.py::test_e": ROWS[0],
        "tests/host/test_facts.py::test_c[a/b.py]": "tests/host/test_facts.py",
    }
    scheduler = Scheduler.__new__(Scheduler)
    assert {name: split(scheduler, name) for name in shares} == shares
