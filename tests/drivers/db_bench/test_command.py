"""The command of a step, and its report file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.figures import ParseError
from stepgrid.plugins.driver import Context
from stepgrid_databases.drivers.db_bench import command
from stepgrid_databases.drivers.db_bench.command import (
    REPORT,
    RESERVED,
    TAIL,
    declared_seconds,
    live_rates,
    positive_seed,
    step_command,
)

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
    made = step_command(_settings(duration=3.0, write_rate=2 << 20), {"cache_size": 1 << 28, "verify": True}, CONTEXT)
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
    assert "--use_existing_db=false" in step_command(_settings(fresh=True), {}, CONTEXT).argv


def test_a_limit_that_is_not_set_is_no_flag() -> None:
    argv = step_command(_settings(duration=None, writes=None, reads=7), {}, CONTEXT).argv
    assert [flag for flag in argv if flag.startswith(("--duration", "--writes", "--benchmark_write"))] == []
    assert "--reads=7" in argv


def test_options_may_change_how_a_step_is_watched() -> None:
    argv = step_command(_settings(), {"histogram": False, "stats_interval_seconds": 0}, CONTEXT).argv
    assert "--histogram=false" in argv
    assert "--histogram=true" not in argv
    assert "--stats_interval_seconds=0" in argv


def test_text_reaches_the_program_as_one_argument() -> None:
    nasty = "a; rm -rf $HOME --db=/x"
    assert step_command(_settings(), {"compression_type": nasty}, CONTEXT).argv[-1] == f"--compression_type={nasty}"


@pytest.mark.parametrize("option", RESERVED)
def test_no_option_says_what_a_setting_says(option: str) -> None:
    meaning = f"it is the setting `{RESERVED[option]}`" if RESERVED[option] else "the driver sets it"
    with pytest.raises(ValueError, match=f"^{option} cannot be given as an option: {meaning}$"):
        step_command(_settings(), {option: 1}, CONTEXT)


def test_num_is_the_setting_keys() -> None:
    with pytest.raises(ValueError, match=r"^num cannot be given as an option: it is the setting `keys`$"):
        step_command(_settings(), {"num": 1}, CONTEXT)


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("secs_elapsed,interval_qps\n1,194192\n2,179217\n", [(1.0, 194192.0), (2.0, 179217.0)]),
        ("secs_elapsed,interval_qps\n1,194192\n2,1792", [(1.0, 194192.0)]),
        ("secs_elapsed,interval_qps\n1,194192\n2", [(1.0, 194192.0)]),
        ("interval_qps,new,secs_elapsed\n0,9,1\n", [(1.0, 0.0)]),
        ("secs_elapsed,interval_qps\n10,5000\n20,7000\n30,0\n", [(10.0, 500.0), (20.0, 700.0), (30.0, 0.0)]),
        ("secs_elapsed,interval_qps\n1,50\n2,60\n4,70\n5,80\n", [(1.0, 50.0), (2.0, 60.0), (4.0, 70.0), (5.0, 80.0)]),
        ("secs_elapsed,interval_qps\n", []),
        ("secs_ela", []),
        ("", []),
    ],
)
def test_rates(text: str, expected: list[tuple[float, float]], tmp_path: Path) -> None:
    (tmp_path / "report.csv").write_text(text)
    assert command.read_report(tmp_path / "report.csv") == expected


def test_no_file_no_rates(tmp_path: Path) -> None:
    assert command.read_report(tmp_path / "report.csv") == []


def test_another_header(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_text("secs_elapsed,ops\n1,2\n")
    with pytest.raises(ParseError) as caught:
        command.read_report(path)
    assert str(caught.value) == f"{path}: no column interval_qps in its first line, 'secs_elapsed,ops'"


@pytest.mark.parametrize("line", ["x,1", "1", ""])
def test_a_broken_line_in_the_middle(line: str, tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_text(f"secs_elapsed,interval_qps\n{line}\n2,2\n")
    with pytest.raises(ParseError) as caught:
        command.read_report(path)
    assert str(caught.value) == f"{path}:2: expected seconds and operations per second, found {line!r}"


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "report.csv").write_bytes(b"secs_elapsed,interval_qps\n1,5\n2,\xff\n")
    with pytest.raises(ParseError) as caught:
        command.read_report(tmp_path / "report.csv")
    where = f"{tmp_path / 'report.csv'}:3"
    assert str(caught.value) == f"{where}: expected seconds and operations per second, found '2,\ufffd'"


HEAD = "secs_elapsed,interval_qps\n"


def report(folder: Path, text: str) -> Path:
    (folder / REPORT).write_text(text)
    return folder


def test_a_short_file_is_read_from_its_start(tmp_path: Path) -> None:
    assert [rate for _, rate in live_rates(report(tmp_path, f"{HEAD}1,100\n2,200\n"))] == [100.0, 200.0]


def test_a_line_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    assert [rate for _, rate in live_rates(report(tmp_path, f"{HEAD}1,100\n2,2"))] == [100.0]


def test_of_a_long_one_only_whole_lines_at_its_end_are_read(tmp_path: Path) -> None:
    lines = [f"{second},{second * 10}\n" for second in range(1, 5001)]
    found = live_rates(report(tmp_path, HEAD + "".join(lines)))
    assert found[-1] == (5000.0, 50000.0)
    assert 0 < len(found) <= TAIL // len(lines[-1])
    assert all(rate == 10 * second for second, rate in found)


def test_what_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    assert live_rates(tmp_path) == ()
    assert live_rates(report(tmp_path, "a,b\n1,2\n")) == ()
