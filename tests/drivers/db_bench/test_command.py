"""The command of a step, and its report file."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plugins.driver import Context
from stepgrid_databases.drivers.db_bench.command import (
    REPORT,
    RESERVED,
    TAIL,
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


@pytest.mark.parametrize("option", RESERVED)
def test_no_option_says_what_a_setting_says(option: str) -> None:
    meaning = f"it is the setting `{RESERVED[option]}`" if RESERVED[option] else "the driver sets it"
    with pytest.raises(ValueError, match=f"^{option} cannot be given as an option: {meaning}$"):
        step_command(_settings(), {option: 1}, CONTEXT)


@given(st.integers(min_value=0, max_value=2**64))
def test_a_seed_is_never_the_one_that_db_bench_replaces(seed: int) -> None:
    assert 1 <= positive_seed(seed) < 2**31


HEAD = "secs_elapsed,interval_qps\n"


def report(folder: Path, text: str) -> Path:
    (folder / REPORT).write_text(text)
    return folder


def test_of_a_long_one_only_whole_lines_at_its_end_are_read(tmp_path: Path) -> None:
    lines = [f"{second},{second * 10}\n" for second in range(1, 5001)]
    found = live_rates(report(tmp_path, HEAD + "".join(lines)))
    assert found[-1] == (5000.0, 50000.0)
    assert 0 < len(found) <= TAIL // len(lines[-1])
    assert all(rate == 10 * second for second, rate in found)
