from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.drivers.db_bench.command import RESERVED, command, declared_seconds, positive_seed
from stepgrid.plugins.driver import Context

CONTEXT = Context(
    programs={"db_bench": ("lib/ld.so", "--library-path", "lib", "bin/db_bench")},
    version="7.8.3",
    data=Path("live/db"),
    folder=Path("attempt/steps/1-readww"),
    seed=41,
)


def _settings(**changes: Any) -> dict[str, Any]:
    return {"benchmarks": ["readwhilewriting", "stats"], "keys": 200_000, "threads": 2, "fresh": False, **changes}


def test_the_whole_command() -> None:
    made = command(_settings(duration=3.0, write_rate=2 << 20), {"cache_size": 1 << 28, "verify": True}, CONTEXT)
    assert made.argv == (
        "lib/ld.so",
        "--library-path",
        "lib",
        "bin/db_bench",
        "--benchmarks=readwhilewriting,stats",
        "--db=live/db",
        "--use_existing_db=true",
        "--num=200000",
        "--threads=2",
        "--seed=42",
        "--report_file=attempt/steps/1-readww/report.csv",
        "--duration=3",
        "--benchmark_write_rate_limit=2097152",
        "--histogram=true",
        "--stats_interval_seconds=20",
        "--stats_per_interval=1",
        "--report_interval_seconds=1",
        "--cache_size=268435456",
        "--verify=true",
    )
    assert made.duration == 3.0
    assert dict(made.env) == {}


def test_a_fresh_database() -> None:
    assert "--use_existing_db=false" in command(_settings(fresh=True), {}, CONTEXT).argv


def test_a_limit_that_is_not_set_is_no_flag() -> None:
    argv = command(_settings(duration=None, writes=None, reads=7), {}, CONTEXT).argv
    assert [flag for flag in argv if flag.startswith(("--duration", "--writes", "--benchmark_write"))] == []
    assert "--reads=7" in argv


def test_options_may_change_how_a_step_is_watched() -> None:
    argv = command(_settings(), {"histogram": False, "stats_interval_seconds": 0}, CONTEXT).argv
    assert "--histogram=false" in argv
    assert "--histogram=true" not in argv
    assert "--stats_interval_seconds=0" in argv


def test_text_reaches_the_program_as_one_argument() -> None:
    nasty = "a; rm -rf $HOME --db=/x"
    assert command(_settings(), {"compression_type": nasty}, CONTEXT).argv[-1] == f"--compression_type={nasty}"


@pytest.mark.parametrize("option", RESERVED)
def test_no_option_says_what_a_setting_says(option: str) -> None:
    meaning = f"it is the setting `{RESERVED[option]}`" if RESERVED[option] else "the driver sets it"
    with pytest.raises(ValueError, match=f"^{option} cannot be given as an option: {meaning}$"):
        command(_settings(), {option: 1}, CONTEXT)


def test_num_is_the_setting_keys() -> None:
    with pytest.raises(ValueError, match=r"^num cannot be given as an option: it is the setting `keys`$"):
        command(_settings(), {"num": 1}, CONTEXT)


@pytest.mark.parametrize(
    ("benchmarks", "expected"),
    [
        (["readrandom", "stats"], 30.0),
        (["readrandom", "seekrandom", "levelstats"], 60.0),
        (["fillseq", "stats"], None),
        (["overwrite", "flush", "waitforcompaction", "stats"], None),
        (["stats"], None),
        (["nobodyknows"], None),
    ],
)
def test_declared_seconds(benchmarks: list[str], expected: float | None) -> None:
    assert declared_seconds({"benchmarks": benchmarks, "duration": 30.0}) == expected


def test_without_a_duration_nothing_is_declared() -> None:
    assert declared_seconds({"benchmarks": ["readrandom"], "duration": None}) is None


@given(st.integers(min_value=0, max_value=2**64))
def test_a_seed_is_never_the_one_that_db_bench_replaces(seed: int) -> None:
    assert 1 <= positive_seed(seed) < 2**31
