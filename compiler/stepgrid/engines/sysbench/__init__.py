"""sysbench itself: the client of server benchmarks, in builds of its own so that its version is chosen and recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stepgrid.plugins.engine import Built, Identity, IdentityError, OptionInfo, Run, last

if TYPE_CHECKING:
    from stepgrid.build.recipe import InstalledPrograms, Recipe

# of those that a release may not have, the help says nothing
_TESTS = (
    "oltp_read_only", "select_random_points", "select_random_ranges", "fileio", "cpu", "memory", "threads", "mutex",
)  # fmt: skip
_SAID = re.compile(r"^sysbench (?P<version>\d+(?:\.\d+)+).*$", re.MULTILINE)
_DRIVER = re.compile(r"^  (\w+) - \w+ driver$", re.MULTILINE)


class Sysbench:
    name = "sysbench"
    programs: tuple[str, ...] = ("sysbench",)
    kinds: tuple[str, ...] = ("command",)
    immutable: tuple[str, ...] = ()
    server = False
    storage_engines: tuple[str, ...] = ("",)
    default_storage_engine = ""
    extensions: tuple[str, ...] = ()
    systems: tuple[str, ...] = ("configure",)
    reserved: Mapping[str, str] = {}

    def capabilities(self, version: str) -> frozenset[str]:
        return frozenset()

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid.engines.sysbench.recipe import SysbenchConfigure

        return (SysbenchConfigure(),)

    def installed(self) -> InstalledPrograms:
        from stepgrid.build.recipe import InstalledPrograms
        from stepgrid.engines.sysbench.recipe import places

        return InstalledPrograms(places=places)

    def identify(self, run: Run) -> Identity:
        stdout, stderr = run("sysbench", ("--version",))
        match = _SAID.search(stdout)
        if match is None:
            raise IdentityError(f"sysbench --version does not say which it is; it said: {last(stdout + stderr)}")
        drivers = _DRIVER.findall(run("sysbench", ("--help",))[0])
        return Identity(match["version"], facts={"said": match[0], "drivers": ", ".join(drivers)})

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        stdout, stderr = run("sysbench", ("--help",))
        found = options(stdout)
        if "threads" not in found:
            raise IdentityError(f"sysbench --help does not list its options; it said: {last(stdout + stderr)}")
        for test in _TESTS:
            found = {**options(run("sysbench", (test, "help"))[0]), **found}
        return found


# What sysbench and its workloads name: `--threads=N   number of threads to use [1]`.

_LINE = re.compile(
    r"^  --(?P<name>[A-Za-z][\w-]*)(?P<argument>\[=on\|off\]|=\S+)? +(?P<help>.*?)(?: ?\[(?P<default>[^][]*)\])?$"
)
_TYPES = {"=N": "number", "=SIZE": "size", "[=on|off]": "bool"}


def options(text: str) -> dict[str, OptionInfo]:
    """Names with underscores: sysbench takes both."""
    found = (_option(match) for match in map(_LINE.match, text.splitlines()) if match)
    return {option.name: option for option in found}


def _option(match: re.Match[str]) -> OptionInfo:
    name = match["name"].replace("-", "_")
    return OptionInfo(name, _type(match["argument"] or "", match["help"]), match["default"] or "", match["help"])


def _type(argument: str, text: str) -> str:
    if argument.startswith("=["):
        return "list"
    return _TYPES.get(argument, "enum" if re.search(r"\{\w+(?:, ?\w+)+\}", text) else "text")


ENGINE: Built = Sysbench()
