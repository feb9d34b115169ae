from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepgrid.package import INTERPRETER
from stepgrid.plugins.driver import Context
from stepgrid.plugins.registry import driver, require_runner
from stepgrid_databases.drivers.quiesce import read
from tests.engines.postgres.test_server import ACCESS

KIND = require_runner("quiesce")
OPTIONS = {"cache_size": 1024, "mmap_read": True}


def settings(**given: Any) -> dict[str, Any]:
    return driver("quiesce").settings_model().model_validate(given).model_dump(mode="json")


def context(folder: Path, version: str = "9.10.0", **more: Any) -> Context:
    return Context({"db_bench": ("/ld.so", "/db_bench")}, version, Path("/live/data"), folder, 1, **more)


def request(folder: Path, **given: Any) -> dict[str, Any]:
    options, version = given.pop("options", OPTIONS), given.pop("version", "9.10.0")
    command = KIND.command(settings(**given), options, context(folder, version))
    found: dict[str, Any] = json.loads(command.files["request.json"])
    return found


def test_the_password_is_in_a_file_only(tmp_path: Path) -> None:
    command = KIND.command(settings(timeout=90.0), {}, context(tmp_path, server=ACCESS, server_pid=12))
    assert command.argv == (*INTERPRETER, "stepgrid.drivers.quiesce")
    assert command.duration == 150.0
    assert not any("secret" in value for value in command.env.values())
    (tmp_path / "request.json").write_text(command.files["request.json"])
    found = read(tmp_path)
    assert (found.access, found.argv, found.data, found.server_pid) == (ACCESS, [], Path("/live/data"), 12)
    assert (found.timeout, found.quiet, found.flush, found.analyze) == (90.0, 5.0, True, True)


def test_an_embedded_engine_is_worked_off_by_its_own_program(tmp_path: Path) -> None:
    assert request(tmp_path)["argv"] == [
        "/ld.so",
        "/db_bench",
        "--cache_size=1024",
        "--mmap_read=true",
        "--benchmarks=stats,flush,waitforcompaction,stats",
        "--db=/live/data",
        "--use_existing_db=true",
        "--num=1",
    ]
    assert request(tmp_path)["access"] is None


@pytest.mark.parametrize(
    ("version", "given", "benchmarks", "held"),
    [
        ("6.19.3", {}, "stats,flush,waitforcompaction,stats", False),
        ("9.10.0", {"flush": False}, "stats,waitforcompaction,stats", False),
        ("6.11.4", {}, "readrandom", True),
        ("7.8.3", {"options": {"compaction_style": 1}}, "flush,readrandom", True),
        ("7.8.3", {"options": {"compaction_style": 1}, "flush": False}, "readrandom", True),
        ("8.7.0", {"options": {"compaction_style": 1}}, "stats,flush,waitforcompaction,stats", False),
    ],
)
def test_what_a_release_can(tmp_path: Path, version: str, given: Any, benchmarks: str, held: bool) -> None:
    found = request(tmp_path, version=version, **given)
    assert f"--benchmarks={benchmarks}" in found["argv"]
    assert found["endless"] is held


def test_a_release_that_cannot_wait_is_held_open_and_prints_what_it_does(tmp_path: Path) -> None:
    held = request(tmp_path, version="6.11.4", timeout=90.0, options={"stats_interval_seconds": 60})["argv"]
    assert sorted(held[2:]) == [
        "--benchmark_read_rate_limit=10000",
        "--benchmarks=readrandom",
        "--db=/live/data",
        "--duration=3690",
        "--num=1",
        "--stats_interval_seconds=1",
        "--stats_per_interval=1",
        "--threads=1",
        "--use_existing_db=true",
    ]
    assert "--benchmark_read_rate_limit=10000" not in request(tmp_path, version="4.13.5")["argv"]


def test_a_program_of_ones_own_has_no_debt_that_we_know_of(tmp_path: Path) -> None:
    other = context(tmp_path)._replace(programs={"mine": ("/mine",)})
    with pytest.raises(ValueError, match=r"^it needs a server, or a build that has db_bench$"):
        KIND.command(settings(), {}, other)
