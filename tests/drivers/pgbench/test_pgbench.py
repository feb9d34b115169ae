"""Commands of pgbench, what may be said of a step, and the figures of outputs that pgbench 13, 15 and 17 wrote."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.plan import Command
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access
from stepgrid_databases.drivers.pgbench import DRIVER, Pgbench
from stepgrid_databases.drivers.pgbench.parser import latency_metrics, parse, printed, script_metrics

ACCESS = Access("postgres", Path("/s"), Path("/s/.s.PGSQL.5432"), 5432, "me", "secret", "db", "heap")
MIXED = """\
pgbench (17.12 (Debian 17.12-0+deb13u1), server 18.6)
transaction type: multiple scripts
scaling factor: 2
query mode: simple
number of clients: 2
number of threads: 2
maximum number of tries: 3
duration: 3 s
number of transactions actually processed: 1399
number of failed transactions: 4 (0.285%)
number of transactions retried: 7 (0.500%)
total number of retries: 9
number of transactions skipped: 119 (7.839%)
number of transactions above the 2.0 ms latency limit: 122/1399 (8.721%)
latency average = 0.843 ms
latency stddev = 2.609 ms
rate limit schedule lag: avg 0.281 (max 16.117) ms
initial connection time = 6.762 ms
tps = 467.399472 (without initial connection time)
SQL script 1: /x/read.sql
 - weight: 9 (targets 90.0% of total)
 - 1273 transactions (91.0% of total, tps = 425.303451)
 - latency average = 0.740 ms
 - statement latencies in milliseconds, failures and retries:
         0.002           0           0  \\set aid random(1, 100000 * :scale)
         0.454           0           0  SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
SQL script 2: <builtin: simple update>
 - weight: 1 (targets 10.0% of total)
 - 126 transactions (9.0% of total, tps = 42.096021)
 - latency average = 1.881 ms
 - statement latencies in milliseconds, failures and retries:
         0.003           0           0  \\set aid random(1, 100000 * :scale)
         0.790           0           0  BEGIN;
         0.309           4           9  UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
"""
OLD = """\
transaction type: <builtin: select only>
scaling factor: 1
query mode: prepared
number of clients: 1
number of threads: 1
number of transactions per client: 10
number of transactions actually processed: 10/10
latency average = 0.250 ms
tps = 3900.000000 (including connections establishing)
tps = 4000.000000 (excluding connections establishing)
statement latencies in milliseconds:
         0.001  \\set aid random(1, 100000 * :scale)
         0.249  SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
"""
PROGRESS = """\
pgbench: setting random seed to 5
progress: 1.0 s, 450.2 tps, lat 0.677 ms stddev 1.996, 0 failed, lag 0.264 ms, 24 skipped, 0 retried, 0 retries
progress: 2.0 s, 506.7 tps, lat 0.740 ms stddev 3.226, 0 failed, lag 0.276 ms, 35 skipped, 0 retried, 0 retries
"""
FIRST = "0 1 700 0 1795658231 259867 79 0\n0 2 skipped 0 1795658231 259882 0 0\n0 3 600 1 1795658231 267757 120 0\n"
SECOND = "1 1 400 0 1795658231 253634 90 0\n1 2 failed 1 1795658231 253650 0 2\n1 3 500 0 1795658231 260321 3433 0\n"
RUN: dict[str, Any] = {"scripts": "select-only", "duration": 3.0}


def settings(**values: Any) -> dict[str, Any]:
    return DRIVER.settings_model().model_validate(values).model_dump(mode="json")


def command(**values: Any) -> Command:
    return DRIVER.command(
        settings(**values), {}, Context({"pgbench": ["/b/pgbench"]}, "18", Path("/d"), Path("/f"), 7, ACCESS)
    )


def figures(folder: Path, *logs: str, text: str = MIXED, **values: Any) -> Figures:
    (folder / "stdout").write_text(text)
    (folder / "stderr").write_text(PROGRESS)
    for number, log in enumerate(logs):
        (folder / f"transactions.99{f'.{number}' if number else ''}").write_text(log)
    return parse(folder, settings(**{"scripts": {"read.sql": 9, "simple-update": 1}, "duration": 3.0, **values}))


def test_a_run() -> None:
    made = command(scripts={"sql/mine.sql": 9, "also": {"sql": "SELECT 1"}}, scale=3, clients=4, duration=60.0,
                   variables={"n": 5}, latency_limit=0.1, max_tries=2, report_per_command=True)  # fmt: skip
    assert made.duration == 60.0
    assert made.argv == (
        "/b/pgbench", "--no-vacuum", "--log", "--report-per-command", "--client=4", "--jobs=4", "--time=60",
        "--protocol=simple", "--latency-limit=100.0", "--max-tries=2", "--progress=1", "--random-seed=7", "--scale=3",
        "--log-prefix=transactions", "--define=n=5", "--file=also.sql@1", "--file=mine.sql@9",
    )  # fmt: skip


def test_the_password_is_in_no_command_line() -> None:
    made = command(**RUN)
    assert made.env == {"PGHOST": "/s", "PGPORT": "5432", "PGUSER": "me", "PGPASSWORD": "secret", "PGDATABASE": "db"}
    assert not any("secret" in word for word in made.argv)


def test_an_initialization() -> None:
    made = command(action="init", scale=10, partitions=4, unlogged_tables=True, foreign_keys=True, clients=8)
    assert made.argv[1:] == (
        "--initialize", "--quiet", "--scale=10", "--fillfactor=100", "--partitions=4", "--partition-method=range",
        "--foreign-keys", "--unlogged-tables",
    )  # fmt: skip


def test_a_param_for_runs_makes_no_other_load() -> None:
    load = settings(action="init", scale=1)
    assert settings(action="init", scale=1, clients=8, duration=5.0, scripts="tpcb-like") == load
    assert settings(**RUN, fillfactor=50) == settings(**RUN)


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ({"duration": 60.0, "clients": 2}, 1.0),
        ({"duration": 1000.0, "clients": 40}, 0.01),
        ({"duration": 1000.0, "clients": 40, "rate": 1000}, 1.0),  # no more than a million
        ({"transactions": 8_000_000}, 0.5),
        ({"duration": 60.0, "log": 25}, 0.25),
    ],
)
def test_a_log_that_would_be_large_is_a_sample(values: dict[str, Any], share: float) -> None:
    words = command(scripts="select-only", **values).argv
    assert [word for word in words if "sampling" in word] == ([f"--sampling-rate={share:.6f}"] if share < 1 else [])


def test_without_a_log(tmp_path: Path) -> None:
    assert not any("log" in word for word in command(**RUN, log=0).argv)
    found = figures(tmp_path, log=0)
    assert found.metrics["avg_us"] == 843
    assert "p99_us" not in found.metrics


def test_sql_of_ones_own_is_part_of_the_identity() -> None:
    assert isinstance(DRIVER, Pgbench)
    scripts = {"sql/mine.sql": 1, "also": {"sql": "SELECT 1"}, "select-only": 3}
    found = DRIVER.files(settings(scripts=scripts, duration=1.0), {"sql/mine.sql": "SELECT 2"}.__getitem__)
    assert found == {"mine.sql": "SELECT 2", "also.sql": "SELECT 1"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scripts": "select-onyl"}, "there is no script `select-onyl` (did you mean `select-only`; a file of your own "
                                     "ends in .sql, a text is `NAME: {sql: …}`)"),
        ({"scripts": "SELECT 1;"}, "a text needs a name: write `scripts: {NAME: {sql: …}}`"),
        ({"scripts": {"a/x.sql": 1, "b/x.sql": 1}}, "`b/x.sql` and `a/x.sql` would be one name in the figures: call "
                                                    "one otherwise"),
        ({"scripts": {}}, "at least one script is needed"),
        ({}, "`run` needs `scripts`"),
        ({"action": "init"}, "`init` needs `scale`"),
    ],
)  # fmt: skip
def test_what_is_refused(
    refused: Callable[[str, dict[str, Any]], list[tuple[str, str]]], values: dict[str, Any], message: str
) -> None:
    (fault,) = refused("pgbench", {"duration": 1.0, **values})
    assert fault[1] == message


@pytest.mark.parametrize("values", [{}, {"duration": 1.0, "transactions": 5}])
def test_a_run_has_one_end(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a run needs either `duration` or `transactions`"):
        settings(scripts="tpcb-like", **values)


def test_transactions_that_end_a_run_are_counted() -> None:
    """So that `check` warns of a run that ends within milliseconds."""
    driver = Pgbench()
    few = driver.counted_work(settings(scripts="select-only", transactions=10, clients=4))
    assert few is not None
    assert (few.setting, few.operations, few.seconds) == ("transactions", 40, 0.01)
    assert driver.counted_work(settings(**RUN)) is None
    assert driver.counted_work(settings(action="init", scale=1)) is None


def test_figures_of_a_run(tmp_path: Path) -> None:
    found = figures(tmp_path, FIRST, SECOND, report_per_command=True)
    assert found.metrics == {
        "qps": 467.399472,
        "transactions_per_s": 467.399472,
        "transactions": 1399,
        "operations": 1399,
        "seconds": pytest.approx(2.993, abs=0.001),
        "failed_transactions": 4,
        "retried_transactions": 7,
        "ignored_errors": 9,
        "skipped_transactions": 119,
        "late_transactions": 122,
        "schedule_lag_us": 281,
        "min_us": 400, "avg_us": 550, "max_us": 700,
        "p50_us": 500, "p75_us": 600, "p95_us": 700, "p99_us": 700, "p99_9_us": 700, "p99_99_us": 700,
        "read_avg_us": pytest.approx(533.33, abs=0.01), "read_p50_us": 500, "read_p99_us": 700,
        "simple_update_avg_us": 600, "simple_update_p50_us": 600, "simple_update_p99_us": 600,
        "read_statement_1_us": 454,
        "simple_update_statement_1_us": 790,
        "simple_update_statement_2_us": 309,
    }  # fmt: skip
    assert found.qps == [(1.0, 450.2), (2.0, 506.7)]
    assert [(part.operation, sum(part.operations)) for part in found.histograms] == [("read", 3), ("simple_update", 1)]
    assert found.facts["read statement 1"] == "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;"
    assert found.facts["pgbench"] == "17.12 (Debian 17.12-0+deb13u1), server 18.6"


def test_the_names_of_its_figures_are_announced(tmp_path: Path) -> None:
    values = {"scripts": {"read.sql": 9, "simple-update": 1}, "duration": 3.0, "report_per_command": True}
    names = figures(tmp_path, FIRST, SECOND, **values).metrics.keys()
    announced = script_metrics(settings(**values))
    assert {name for name in names if name.startswith(("read_", "simple"))} <= announced.keys()
    assert not script_metrics(settings(**RUN))


def test_a_sample_has_no_extremes(tmp_path: Path) -> None:
    found = figures(tmp_path, FIRST, SECOND, log=10)
    assert found.metrics["p50_us"] == 500
    assert found.metrics["avg_us"] == 843  # as printed
    assert "max_us" not in found.metrics
    assert found.facts["logged"] == "10 % of the transactions"


def test_an_older_release(tmp_path: Path) -> None:
    found = figures(tmp_path, text=OLD, scripts="select-only", report_per_command=True, log=0)
    assert (found.metrics["qps"], found.metrics["operations"]) == (4000, 10)
    assert found.metrics["statement_1_us"] == 249


def test_an_initialization_says_how_long_its_parts_took(tmp_path: Path) -> None:
    said = "generating data (client-side)...\nvacuuming...\ndone in 0.50 s (drop tables 0.00 s, create tables 0.00 s, "
    (tmp_path / "stderr").write_text(f"{said}client-side generate 0.26 s, vacuum 0.11 s, primary keys 0.12 s).\n")
    found = parse(tmp_path, settings(action="init", scale=2))
    assert found.metrics == {
        "seconds": 0.5, "insert_seconds": 0.26, "index_seconds": 0.12, "operations": 200_022, "qps": 400_044,
    }  # fmt: skip


def test_an_output_without_a_summary_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"has no line `tps = … \(without initial connection time\)`"):
        figures(tmp_path, text="")


def test_a_log_that_cannot_be_read_costs_the_percentiles(tmp_path: Path) -> None:
    (tmp_path / "transactions.1").symlink_to("/dev/zero")
    found = figures(tmp_path)
    assert found.metrics["qps"] == 467.399472
    assert found.warnings == ["no percentiles: the log cannot be read: it is no regular file"]


@pytest.mark.parametrize("program", ["pgbench", "pgbench.real"])
def test_the_first_error_explains_a_failure(program: str, tmp_path: Path) -> None:
    assert isinstance(DRIVER, Pgbench)
    message = 'client 0 script 0 aborted in command 0 query 0: ERROR:  relation "nowhere" does not exist'
    (tmp_path / "stderr").write_text(f"{program}: error: {message}\nLINE 1: …\n{program}: error: Run was aborted\n")
    assert DRIVER.complaint(tmp_path) == f"pgbench failed: {message}"


def test_an_output_by_itself(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(PROGRESS + MIXED)
    (step,) = printed(tmp_path / "out")
    assert step.figures.metrics["qps"] == 467.399472
    assert len(step.figures.qps) == 2


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=300))
def test_percentiles_are_those_of_the_sorted_transactions(times: list[int]) -> None:
    found = latency_metrics(Counter(times), True)
    ranks = {"p50_us": "50", "p75_us": "75", "p95_us": "95", "p99_us": "99", "p99_9_us": "99.9", "p99_99_us": "99.99"}
    for name, percent in ranks.items():
        rank = math.ceil(Fraction(percent) * len(times) / 100)
        assert found[name] == sorted(times)[rank - 1]
    assert found["max_us"] == max(times)
