"""Lines as the program printed them, beside MariaDB 11.8.6 and db_bench 9.10.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.figures import Figures, ParseError
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import require_runner
from stepgrid.run.status_lines import current_wait
from stepgrid_databases.drivers.quiesce.parser import AMOUNTS, END, START

DUMP = """\
** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)
----------------------------------------
{level}
  L1      4/0    3.54 MB   0.9      0.0
  L2     23/0   18.78 MB   0.5      0.0
 Sum     {files}   26.19 MB   0.0      0.0

** Compaction Stats [default] **
Priority    Files   Size     Score Read(GB)
-------------------------------------------
User      0/0    0.00 KB   0.0      0.0
Estimated pending compaction bytes: {pending}
"""
FULL = DUMP.format(level="  L0      5/2    3.88 MB   1.2      0.0", files="32/2", pending=20421190)
DONE = DUMP.format(level="", files="27/0", pending=0).replace("\n\n  L1", "\n  L1")


def thing(what: str, value: float, least: float = 0.0, unit: str = "") -> dict[str, Any]:
    return {"what": what, "value": value, "least": least, "unit": unit, "idle": value <= least}


def look(seconds: float, *seen: dict[str, Any]) -> dict[str, Any]:
    return {"look": {"seconds": seconds, "idle": all(t["idle"] for t in seen), "seen": list(seen)}}


def end(quiet: bool, since: float | None, seconds: float, *notes: str) -> dict[str, Any]:
    return {"end": {"quiet": quiet, "since": since, "seconds": seconds, "notes": list(notes)}}


def parsed(folder: Path, *lines: dict[str, Any]) -> Figures:
    (folder / "stdout").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return require_runner("quiesce").parse(folder, {})


WRITES = thing("engine writes", 26790200, 2**20, "B/s")


def test_what_there_was_to_do_and_what_is_left(tmp_path: Path) -> None:
    found = parsed(
        tmp_path,
        look(0.0, thing("statements under way", 1), thing("dirty pages", 3783, 14601.6)),
        look(1.0, thing("statements under way", 0), thing("dirty pages", 1884, 162.2), WRITES),
        look(2.0, thing("dirty pages", 55, 162.2), thing("engine writes", 512, 2**20, "B/s")),
        end(True, 2.0, 7.0),
    )
    assert found.metrics == {
        "quiesce_seconds": 2.0,
        "quiesce_dirty_pages_start": 3783,
        "quiesce_dirty_pages_end": 55,
        "quiesce_write_bytes_per_s_start": 26790200,
        "quiesce_write_bytes_per_s_end": 512,
    }
    assert found.warnings == ()
    assert found.facts == {
        "at the start": "dirty pages 3,783",
        "at the end": "dirty pages 55, engine writes 512 B/s",
        "looks": "3",
    }


def test_what_was_not_quiet_is_a_warning_that_travels(tmp_path: Path) -> None:
    seen = (thing("statements under way", 1), thing("dirty pages", 3783, 162.2), thing("history list", 7, 1000))
    found = parsed(tmp_path, look(20.4, *seen, WRITES), end(False, None, 20.4))
    assert "quiesce_seconds" not in found.metrics
    assert found.warnings == (
        "not quiet after 20.4 s, what follows was measured all the same: statements under way; dirty pages "
        "3,783 (idle at 162.2); "
        "engine writes 25.55 MiB/s (idle at 1 MiB/s)",
    )


def test_idle_for_too_short_a_time(tmp_path: Path) -> None:
    found = parsed(tmp_path, look(3.0, thing("dirty pages", 1, 2)), end(False, None, 3.0))
    assert found.warnings[0].endswith(": it was idle for too short a time")


def test_the_debt_of_an_embedded_rocksdb(tmp_path: Path) -> None:
    (tmp_path / "drain.stdout").write_text(FULL + DONE)
    found = parsed(tmp_path, look(0.0, thing("db_bench at work", 1)), end(True, 5.1, 10.1, "cannot wait"))
    assert found.metrics == {
        "quiesce_seconds": 5.1,
        "quiesce_l0_files_start": 5,
        "quiesce_l0_files_end": 0,
        "quiesce_pending_bytes_start": 20421190,
        "quiesce_pending_bytes_end": 0,
    }
    assert found.warnings == ("cannot wait",)
    (tmp_path / "drain.stdout").write_text(FULL)
    cut = parsed(tmp_path, look(0.0, thing("db_bench at work", 1)), end(False, None, 5.0))
    assert cut.metrics == {"quiesce_l0_files_start": 5, "quiesce_pending_bytes_start": 20421190}


def test_the_debt_of_one_that_was_held_open_is_among_its_errors(tmp_path: Path) -> None:
    (tmp_path / "drain.stdout").write_text("")
    (tmp_path / "drain.stderr").write_text(FULL + FULL + DONE)
    found = parsed(tmp_path, look(0.0, thing("files being compacted", 2)), end(True, 5.1, 10.1))
    assert (found.metrics["quiesce_l0_files_start"], found.metrics["quiesce_l0_files_end"]) == (5, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"look": {"seen": []}}\n', "stdout ends before the last look: it has no line `end`"),
        ("Traceback\n", "stdout has a line that is no look: Traceback"),
    ],
)
def test_output_that_is_cut_off(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "stdout").write_text(text)
    with pytest.raises(ParseError) as caught:
        require_runner("quiesce").parse(tmp_path, {})
    assert str(caught.value) == said


def test_every_figure_is_a_metric() -> None:
    names = {amount.metric(when) for amount in AMOUNTS.values() for when in (START, END)}
    assert {"quiesce_seconds", *names} <= METRICS.keys()


# A quiesce that is still waiting.

BUSY = look(1.0, thing("engine reads", 63590, 2**10, "B/s"), thing("engine writes", 2**20, 2**20, "B/s"))
MORE = look(2.0, thing("dirty pages", 12000), thing("files to write back", 1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        (f"{json.dumps(BUSY)}\n", "engine reads 62.1 KiB/s (idle at 1 KiB/s)"),
        (f"{json.dumps(BUSY)}\n{json.dumps(MORE)}\n", "dirty pages 12,000 (idle at 0); files to write back"),
        (f"{json.dumps(BUSY)}\n{json.dumps(MORE)[:30]}", "engine reads 62.1 KiB/s (idle at 1 KiB/s)"),
        (f"{json.dumps(look(3.0, thing('dirty pages', 0)))}\n", ""),
        (f"{json.dumps(BUSY)}\n{json.dumps(end(True, 2.0, 3.0))}\n", ""),
    ],
)
def test_it_is_what_the_last_whole_look_did_not_find_idle(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "stdout").write_text(text)
    assert current_wait("quiesce", tmp_path) == said


def test_before_the_first_look_and_of_other_kinds_there_is_nothing(tmp_path: Path) -> None:
    assert (
        current_wait("quiesce", tmp_path)
        == current_wait("db_bench", tmp_path)
        == current_wait("nosuch", tmp_path)
        == ""
    )
