"""sysbench itself: the client of server benchmarks, in builds of its own so that its version is chosen and recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stepgrid.plugins.engine import Built, EngineBase, Identity, IdentityError, OptionInfo, Run, last_lines

if TYPE_CHECKING:
    from stepgrid.build.recipe import InstalledPrograms, Recipe

# whose options are listed; the help is empty for one that a release lacks
_TESTS = (
    "oltp_read_only", "select_random_points", "select_random_ranges", "fileio", "cpu", "memory", "threads", "mutex",
)  # fmt: skip


class SysbenchClient(EngineBase):
    name = "sysbench"
    programs: tuple[str, ...] = ("sysbench",)
    kinds: tuple[str, ...] = ("command",)
    storage_engines: tuple[str, ...] = ("",)
    default_storage_engine = ""
    systems: tuple[str, ...] = ("configure",)

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid_databases.engines.recipes.sysbench import SysbenchConfigure

        return (SysbenchConfigure(),)

    def installed(self) -> InstalledPrograms:
        from stepgrid_databases.engines.recipes.sysbench import INSTALLED

        return INSTALLED

    def identify(self, run: Run) -> Identity:
        stdout, stderr = run("sysbench", ("--version",))
        match = re.search(r"^sysbench (\d+(?:\.\d+)+).*$", stdout, re.MULTILINE)
        if match is None:
            raise IdentityError(f"sysbench --version does not say which it is; it said: {last_lines(stdout + stderr)}")
        drivers = re.findall(r"^  (\w+) - \w+ driver$", run("sysbench", ("--help",))[0], re.MULTILINE)
        return Identity(match[1], facts={"said": match[0], "drivers": ", ".join(drivers)})

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        stdout, stderr = run("sysbench", ("--help",))
        options = _options(stdout)
        if "threads" not in options:
            raise IdentityError(f"sysbench --help does not list its options; it said: {last_lines(stdout + stderr)}")
        for test in _TESTS:
            options = {**_options(run("sysbench", (test, "help"))[0]), **options}
        return options


# `--threads=N   number of threads to use [1]`
_LINE = re.compile(
    r"^  --(?P<name>[A-Za-z][\w-]*)(?P<argument>\[=on\|off\]|=\S+)? +(?P<help>.*?)(?: ?\[(?P<default>[^][]*)\])?$"
)
_TYPES = {"=N": "number", "=SIZE": "size", "[=on|off]": "bool"}


def _options(text: str) -> dict[str, OptionInfo]:
    """Parse the options of a help text; names get underscores: sysbench takes both."""
    options = {}
    for match in filter(None, map(_LINE.match, text.splitlines())):
        name, argument, help_ = match["name"].replace("-", "_"), match["argument"] or "", match["help"]
        words = "enum" if re.search(r"\{\w+(?:, ?\w+)+\}", help_) else "text"
        kind = "list" if argument.startswith("=[") else _TYPES.get(argument, words)
        options[name] = OptionInfo(name, kind, match["default"] or "", help_)
    return options


ENGINE: Built = SysbenchClient()
