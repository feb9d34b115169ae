"""The files of workloads: all that each needs and no other."""

from __future__ import annotations

import re

import pytest

from stepgrid.drivers.sysbench.command import _OPTIONS, BATCH
from stepgrid.drivers.sysbench.settings import WORKLOADS, Settings
from stepgrid.drivers.sysbench.workload_files import FOLDER, again, files, script
from tests.golden import Golden


def _none(name: str) -> str:
    raise AssertionError(f"{name} is asked for")


@pytest.mark.parametrize("lua", WORKLOADS)
def test_every_workload_has_its_files(lua: str) -> None:
    found = files(lua, _none)
    assert {script(lua), "workload.lua", "options.lua", "report.lua"} <= found.keys()
    assert not {f"{other}.lua" for other in WORKLOADS if other != lua} & found.keys()
    required = {name for text in found.values() for name in re.findall(r'require\("(\w+)"\)', text)}
    assert required - {"ffi"} <= {name.removesuffix(".lua") for name in found}


def test_no_file_is_needed_by_none() -> None:
    needed = {name for lua in [*WORKLOADS, "mine.lua"] for name in files(lua, lambda _: "")}
    assert {path.name for path in FOLDER.iterdir()} == (needed | again().keys()) - {"main.lua", "mine.lua"}


def test_a_file_of_ones_own_brings_what_it_asks_for() -> None:
    found = files("workloads/mine.lua", lambda name: f'-- {name}\nrequire "ids"\nrequire("oltp_common")\n')
    assert script("workloads/mine.lua") == "main.lua"
    assert found["main.lua"] == 'require("own")("mine.lua")\n'
    assert found["mine.lua"].startswith("-- workloads/mine.lua\n")
    assert {"ids.lua", "own.lua"} <= found.keys()
    assert "oltp_common.lua" not in found


def test_arguments_that_a_file_does_not_declare_are_declared_for_it(golden: Golden) -> None:
    text = 'sysbench.cmdline.options = {times = {"how often", 1}}\n'
    arguments = {"times": 3, "read-only": True, "word": 'a "b"', "share": 0.5}
    golden(files("mine.lua", lambda _: text, arguments)["main.lua"])
    assert files("mine.lua", lambda _: text, {"times": 3})["main.lua"] == 'require("own")("mine.lua")\n'


def test_a_setting_and_its_option_have_the_same_default() -> None:
    """The command leaves out what is as usual."""
    text = (FOLDER / "options.lua").read_text(encoding="utf-8")
    lua = dict(re.findall(r"^   (\w+) = \{\".*\", (.+)\},$", text, re.MULTILINE))
    shown = {True: "true", False: "false"}
    for name, (option, usual) in _OPTIONS.items():
        default = Settings.model_fields[name].default
        if name != "rows":  # which is always said
            assert default == usual
            said = shown.get(usual, f'"{usual}"') if isinstance(usual, bool | str) else str(usual)
            assert lua[option.replace("-", "_")] == said
    assert lua["batch"] == str(BATCH)
