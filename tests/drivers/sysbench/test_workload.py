"""Workloads: the files that each needs and no other, and the command line of a step."""

import re
from pathlib import Path

import pytest

from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access
from stepgrid_databases.drivers.sysbench import workload
from stepgrid_databases.drivers.sysbench.settings import WORKLOADS, SysbenchSettings

PLACE = Path("/run/sockets")
MARIADB = Access("mariadb", PLACE, PLACE / "mysqld.sock", 3306, "stepgrid", "secret", "bench", "rocksdb")
POSTGRES = Access("postgres", PLACE, PLACE / ".s.PGSQL.5432", 5432, "stepgrid", "secret", "bench", "heap")


def _context(access, seed=41):
    folder = Path("/attempt/steps/0-one")
    return Context({"sysbench": ("ld.so", "bin/sysbench")}, "11.8.6", Path("/data"), folder, seed, access)


def _settings(**given):
    return SysbenchSettings.model_validate({"rows": 1000, **given}).model_dump(mode="json")


def test_a_server_that_ran_before_is_reached_by_its_host_and_loaded_anew():
    running = MARIADB._replace(host="db1", running=True)
    made = workload.workload_command(_settings(lua="load", threads=2), _context(running))
    assert made.argv[2:7] == (
        "again.lua", "--db-driver=mysql", "--config-file=connection", "--mysql-host=db1", "--mysql-port=3306",
    )  # fmt: skip
    assert "DROP TABLE IF EXISTS sbtest%d" in made.files["again.lua"]
    asked = workload.workload_command(
        _settings(lua="scan", duration=1.0), _context(POSTGRES._replace(host="db1", running=True))
    )
    assert {"--pgsql-host=db1", "--pgsql-port=5432", "scan.lua"} <= set(asked.argv)
    assert asked.files.keys() == {"connection"}


def _none(name):
    raise AssertionError(f"{name} is asked for")


@pytest.mark.parametrize("lua", WORKLOADS)
def test_every_workload_has_its_files(lua):
    found = workload.workload_files(lua, _none)
    assert {workload.script(lua), "workload.lua", "options.lua", "report.lua"} <= found.keys()
    assert not {f"{other}.lua" for other in WORKLOADS if other != lua} & found.keys()
    required = {name for text in found.values() for name in re.findall(r'require\("(\w+)"\)', text)}
    assert required - {"ffi"} <= {name.removesuffix(".lua") for name in found}


def test_no_file_is_needed_by_none():
    needed = {name for lua in [*WORKLOADS, "mine.lua"] for name in workload.workload_files(lua, lambda _: "")}
    assert {path.name for path in workload.FOLDER.iterdir()} == (needed | {workload.AGAIN}) - {"main.lua", "mine.lua"}


def test_a_file_of_ones_own_brings_what_it_asks_for():
    found = workload.workload_files(
        "workloads/mine.lua", lambda name: f'-- {name}\nrequire "ids"\nrequire("oltp_common")\n'
    )
    assert workload.script("workloads/mine.lua") == "main.lua"
    assert found["main.lua"] == 'require("own")("mine.lua")\n'
    assert found["mine.lua"].startswith("-- workloads/mine.lua\n")
    assert {"ids.lua", "own.lua"} <= found.keys()
    assert "oltp_common.lua" not in found


def test_arguments_that_a_file_does_not_declare_are_declared_for_it(golden):
    text = 'sysbench.cmdline.options = {times = {"how often", 1}}\n'
    arguments = {"times": 3, "read-only": True, "word": 'a "b"', "share": 0.5}
    golden(workload.workload_files("mine.lua", lambda _: text, arguments)["main.lua"])
    assert (
        workload.workload_files("mine.lua", lambda _: text, {"times": 3})["main.lua"] == 'require("own")("mine.lua")\n'
    )


def test_a_setting_and_its_option_have_the_same_default():
    """The command leaves out what is as usual."""
    text = (workload.FOLDER / "options.lua").read_text(encoding="utf-8")
    lua = dict(re.findall(r"^   (\w+) = \{\".*\", (.+)\},$", text, re.MULTILINE))
    shown = {True: "true", False: "false"}
    for name, (option, usual) in workload._OPTIONS.items():
        default = SysbenchSettings.model_fields[name].default
        if name != "rows":  # which is always said
            assert default == usual
            said = shown.get(usual, f'"{usual}"') if isinstance(usual, bool | str) else str(usual)
            assert lua[option.replace("-", "_")] == said
    assert lua["batch"] == str(workload.BATCH)
