"""The parts that need no server; `test_sweep.py` has one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from stepgrid_valkey import configuration, output, statistics
from stepgrid_valkey.engine import ENGINE

from stepgrid.model.figures import ParseError
from stepgrid.plugins.engine import option_fault
from stepgrid.plugins.server import Access, ServerHome

SAMPLE = Path(__file__).parent / "samples" / "valkey_benchmark" / "get" / "stdout"
HOME = ServerHome(
    {}, "8.1.1", Path("/d"), Path("/f"), Access("valkey", Path("/s"), Path("/s/x"), 6379, "", "", "", "memory")
)


def test_the_speed_over_time_is_that_of_each_interval() -> None:
    found = output.parse(SAMPLE)
    assert [second for second, _ in found.qps] == [0.25 * number for number in range(1, len(found.qps) + 1)]
    assert output.newest(SAMPLE)[-1][1] == found.qps[-1][1] > 0


def test_an_output_without_a_summary_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text("GET: rps=0.0 (overall: -nan) avg_msec=-nan (overall: -nan)\n")
    with pytest.raises(ParseError, match=r"^stdout has no `requests completed` and `throughput summary`$"):
        output.parse(tmp_path / "stdout")


def test_options_are_lines_of_the_configuration() -> None:
    lines = configuration.text(HOME, {"io-threads": 2, "appendonly": True, "save": "60 1"}).splitlines()
    assert lines[:4] == ["port 0", "unixsocket /s/x", "unixsocketperm 700", "dir /d"]
    assert lines[-3:] == ["save 60 1", "io-threads 2", "appendonly yes"]


def test_a_setting_is_compared_by_its_value() -> None:
    seen = {"maxmemory": "104857600", "appendonly": "yes", "io-threads": "1"}
    assert configuration.compare({"maxmemory": "100mb", "appendonly": True}, seen).differs == {}
    assert configuration.compare({"io-threads": 2, "no-such": 1}, seen).differs == {
        "io-threads": "asked for 2, the server runs with 1",
        "no-such": "asked for 1, the server runs with no such option",
    }


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("number", "4gb", None),
        ("number", "-1", None),
        ("number", "many", "takes a number, with a unit such as kb, mb or gb, not `many`"),
        ("bool", True, None),
        ("bool", "on", "takes yes or no, not `on`"),
        ("string", "60 1", None),
    ],
)
def test_values_that_the_server_would_not_take(kind: str, value: str | bool, expected: str | None) -> None:
    assert option_fault(ENGINE, {"type": kind}, value) == expected


def test_info_has_numbers_alone_and_in_lists() -> None:
    info = "# Stats\r\nkeyspace_hits:7\r\nrole:master\r\ncmdstat_get:calls=7,usec=9,usec_per_call=1.29\r\n"
    assert dict(statistics._numbers(info)) == {
        "keyspace_hits": 7.0,
        "cmdstat_get.calls": 7.0,
        "cmdstat_get.usec": 9.0,
        "cmdstat_get.usec_per_call": 1.29,
    }


def test_a_new_spec_begins_with_a_sound_text(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "stepgrid.cli"]
    subprocess.run([*run, "new", "valkey", "mine.yaml"], cwd=tmp_path, check=True)
    done = subprocess.run([*run, "check", "mine.yaml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("mine.yaml: fine; 2 cells, 1 build, "), done.stdout + done.stderr
