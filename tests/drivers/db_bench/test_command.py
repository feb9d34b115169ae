"""The command of a step, and its report file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.figures import ParseError
from stepgrid.plugins.driver import Context
from stepgrid.plugins.registry import driver
from stepgrid_databases.drivers.db_bench.command import REPORT, RESERVED, TAIL, live_rates, positive_seed, step_command
from stepgrid_databases.drivers.db_bench.parser import drain_figures, measured_stall_share

CONTEXT = Context(
    programs={"db_bench": ("lib/ld.so", "--library-path", "lib", "bin/db_bench")},
    version="7.8.3",
    data=Path("live/db"),
    folder=Path("attempt/steps/1-readww"),
    seed=41,
)


def _settings(**changes):
    return {"benchmarks": ["readwhilewriting", "stats"], "keys": 200_000, "threads": 2, "fresh": False, **changes}


@pytest.mark.parametrize("option", RESERVED)
def test_no_option_says_what_a_setting_says(option):
    meaning = f"it is the setting `{RESERVED[option]}`" if RESERVED[option] else "the driver sets it"
    with pytest.raises(ValueError, match=f"^{option} cannot be given as an option: {meaning}$"):
        step_command(_settings(), {option: 1}, CONTEXT)


@given(st.integers(min_value=0, max_value=2**64))
def test_a_seed_is_never_the_one_that_db_bench_replaces(seed):
    assert 1 <= positive_seed(seed) < 2**31


HEAD = "secs_elapsed,interval_qps\n"


def report(folder, text):
    (folder / REPORT).write_text(text)
    return folder


def test_of_a_long_one_only_whole_lines_at_its_end_are_read(tmp_path):
    lines = [f"{second},{second * 10}\n" for second in range(1, 5001)]
    found = live_rates(report(tmp_path, HEAD + "".join(lines)))
    assert found[-1] == (5000.0, 50000.0)
    assert 0 < len(found) <= TAIL // len(lines[-1])
    assert all(rate == 10 * second for second, rate in found)


RESULT = "readrandom   :       3.523 micros/op 283840 ops/sec 0.705 seconds 200000 operations;   15.7 MB/s\n"


def _step(folder, stdout, stderr=""):
    (folder / "stdout").write_text(stdout)
    (folder / "stderr").write_text(stderr)
    return folder


def _parse(folder, *benchmarks):
    return dict(driver("db_bench").parse(folder, {"benchmarks": list(benchmarks)}).metrics)


@pytest.mark.parametrize("end", range(10, len(RESULT) - len(";   15.7 MB/s\n")))
def test_half_a_result_line_is_none(end, tmp_path):
    with pytest.raises(ParseError):
        _parse(_step(tmp_path, RESULT[:end]), "readrandom")


AND_WAIT = ["overwrite", "flush", "levelstats", "waitforcompaction", "memstats", "stats"]
METRICS = {"seconds": 6.0, "uptime_seconds": 11.1}


@pytest.mark.parametrize(
    ("benchmarks", "seconds"),
    [
        (AND_WAIT, 5.1),
        (["levelstats", *AND_WAIT], 5.1),
        (["overwrite", "stats"], None),  # nothing is awaited
        (["overwrite", "stats", "waitforcompaction"], None),  # the statistics are of before
        (["flush", "overwrite", "waitforcompaction", "stats"], None),  # it was open before
        (["overwrite", "readrandom", "waitforcompaction", "stats"], None),
    ],
)
def test_draining(benchmarks, seconds):
    found = drain_figures(benchmarks, "overwrite", METRICS)
    assert found == ({} if seconds is None else {"drain_seconds": pytest.approx(seconds)})


@pytest.mark.parametrize("missing", ["drain_seconds", "stall_seconds", "stall_pct", "seconds"])
def test_stalls_of_a_step_that_drains_nothing_stay_as_printed(missing):
    found = {**METRICS, "drain_seconds": 5.1, "stall_seconds": 1.2, "stall_pct": 10.8}
    assert measured_stall_share({name: value for name, value in found.items() if name != missing}) == {}
