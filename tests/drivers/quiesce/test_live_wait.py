"""What a quiesce says it waits for, while it waits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.run.live_throughput import wait
from tests.drivers.quiesce.test_parser import end, look, thing

BUSY = look(1.0, thing("device busy", 63.59, 5.0, "%"), thing("device writes", 2**20, 2**20, "B/s"))
MORE = look(2.0, thing("dirty pages", 12000), thing("device busy", 20.0, 5.0, "%"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        (f"{json.dumps(BUSY)}\n", "device busy 63.59 % (idle at 5 %)"),
        (f"{json.dumps(BUSY)}\n{json.dumps(MORE)}\n", "dirty pages 12,000 (idle at 0); device busy 20 % (idle at 5 %)"),
        (f"{json.dumps(BUSY)}\n{json.dumps(MORE)[:30]}", "device busy 63.59 % (idle at 5 %)"),
        (f"{json.dumps(look(3.0, thing('dirty pages', 0)))}\n", ""),
        (f"{json.dumps(BUSY)}\n{json.dumps(end(True, 2.0, 3.0))}\n", ""),
    ],
)
def test_it_is_what_the_last_whole_look_did_not_find_idle(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "stdout").write_text(text)
    assert wait("quiesce", tmp_path) == said


def test_before_the_first_look_and_of_other_kinds_there_is_nothing(tmp_path: Path) -> None:
    assert wait("quiesce", tmp_path) == wait("db_bench", tmp_path) == wait("nosuch", tmp_path) == ""
