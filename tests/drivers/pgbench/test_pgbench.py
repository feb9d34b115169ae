"""Commands of pgbench, what may be said of a step, and the figures of outputs that pgbench 13, 15 and 17 wrote."""

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from stepgrid_databases.drivers.pgbench import DRIVER, Pgbench
from stepgrid_databases.drivers.pgbench.parser import latency_metrics, parse, script_metrics

MIXED = Path(__file__).with_name("mixed.txt").read_text(encoding="utf-8")
PROGRESS = """\
pgbench: setting random seed to 5
progress: 1.0 s, 450.2 tps, lat 0.677 ms stddev 1.996, 0 failed, lag 0.264 ms, 24 skipped, 0 retried, 0 retries
progress: 2.0 s, 506.7 tps, lat 0.740 ms stddev 3.226, 0 failed, lag 0.276 ms, 35 skipped, 0 retried, 0 retries
"""
FIRST = "0 1 700 0 1795658231 259867 79 0\n0 2 skipped 0 1795658231 259882 0 0\n0 3 600 1 1795658231 267757 120 0\n"
SECOND = "1 1 400 0 1795658231 253634 90 0\n1 2 failed 1 1795658231 253650 0 2\n1 3 500 0 1795658231 260321 3433 0\n"
RUN = {"scripts": "select-only", "duration": 3.0}


def settings(**values):
    return DRIVER.settings_model().model_validate(values).model_dump(mode="json")


def figures(folder, *logs, text=MIXED, **values):
    (folder / "stdout").write_text(text)
    (folder / "stderr").write_text(PROGRESS)
    for number, log in enumerate(logs):
        (folder / f"transactions.99{f'.{number}' if number else ''}").write_text(log)
    return parse(folder, settings(**{"scripts": {"read.sql": 9, "simple-update": 1}, "duration": 3.0, **values}))


def test_sql_of_ones_own_is_part_of_the_identity():
    assert isinstance(DRIVER, Pgbench)
    scripts = {"sql/mine.sql": 1, "also": {"sql": "SELECT 1"}, "select-only": 3}
    found = DRIVER.files(settings(scripts=scripts, duration=1.0), {"sql/mine.sql": "SELECT 2"}.__getitem__)
    assert found == {"mine.sql": "SELECT 2", "also.sql": "SELECT 1"}


def test_transactions_that_end_a_run_are_counted():
    """So that `check` warns of a run that ends within milliseconds."""
    driver = Pgbench()
    few = driver.counted_work(settings(scripts="select-only", transactions=10, clients=4))
    assert (few.setting, few.operations, few.seconds) == ("transactions", 40, 0.01)
    assert driver.counted_work(settings(**RUN)) is None
    assert driver.counted_work(settings(action="init", scale=1)) is None


def test_the_names_of_its_figures_are_announced(tmp_path):
    values = {"scripts": {"read.sql": 9, "simple-update": 1}, "duration": 3.0, "report_per_command": True}
    names = figures(tmp_path, FIRST, SECOND, **values).metrics.keys()
    announced = script_metrics(settings(**values))
    assert {name for name in names if name.startswith(("read_", "simple"))} <= announced.keys()
    assert not script_metrics(settings(**RUN))


def test_a_log_that_cannot_be_read_costs_the_percentiles(tmp_path):
    (tmp_path / "transactions.1").symlink_to("/dev/zero")
    found = figures(tmp_path)
    assert found.metrics["qps"] == 467.399472
    assert found.warnings == ["no percentiles: the log cannot be read: it is no regular file"]


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=300))
def test_percentiles_are_those_of_the_sorted_transactions(times):
    found = latency_metrics(Counter(times), True)
    ranks = {"p50_us": "50", "p75_us": "75", "p95_us": "95", "p99_us": "99", "p99_9_us": "99.9", "p99_99_us": "99.99"}
    for name, percent in ranks.items():
        rank = math.ceil(Fraction(percent) * len(times) / 100)
        beyond = len(times) * (100 - Fraction(percent)) / 100
        assert found.get(name) == (sorted(times)[rank - 1] if beyond >= 10 else None)
    assert found["max_us"] == max(times)
