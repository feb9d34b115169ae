"""The table of commands: their groups, help, modules and parsers. A package adds its own by an entry point.

A module has `add_NAME_arguments(parser)` and `run_NAME(args)`, which returns the exit status, for each of its commands.
"""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import groupby
from typing import NamedTuple

HERE, BESIDE_SPEC = "here", "beside the spec"  # folders in which a command looks for results
HELP_INDENT = 14


class Command(NamedTuple):
    group: str
    name: str
    summary: str
    module: str  # below stepgrid.cli, or with its package
    results: str = ""  # HERE, BESIDE_SPEC, or none are needed


# fmt: off
_TABLE = (
    Command("a spec", "new", "write a commented example spec", "new"),
    Command("a spec", "check", "compile a spec and show every problem in it", "check"),
    Command("a spec", "explain", "show the settings and options of one cell, and the line of the spec that sets each",
            "explain"),
    Command("a spec", "plan", "show what a run would measure, why and for how long, and which results exist",
            "plan", HERE),
    Command("a spec", "lock", "pin the refs and artifacts of a spec to commits and checksums", "lock"),
    Command("a spec", "outdated", "show which builds of a spec have newer releases", "lock"),
    Command("a run", "doctor", "check this host, and show how to fix what it finds", "doctor"),
    Command("a run", "builds", "list builds, make them, compare two of them, copy one to another machine",
            "builds", HERE),
    Command("a run", "run", "measure the missing stages through Snakemake, then summarize", "run"),
    Command("a run", "status", "show the status of every stage, during a run or after it", "status", BESIDE_SPEC),
    Command("a run", "watch", "show the status live, with the speed of the running step", "status", BESIDE_SPEC),
    Command("its results", "report", "print the report of the results, or one of its tables", "report", BESIDE_SPEC),
    Command("its results", "compare", "compare two sets of results: specs, plans, dates, exported files",
            "report", HERE),
    Command("its results", "plans", "list the stored plans, and how much of each is measured", "results", HERE),
    Command("its results", "site", "write a static site of experiments: index, pages, tables, feed", "report", HERE),
    Command("its results", "query", "query the tables of the results in SQL", "query", BESIDE_SPEC),
    Command("its results", "results",
            "list all results and attempts of the stages of a spec, and which results count", "results", BESIDE_SPEC),
    Command("its results", "redo", "measure stages again; their earlier results are kept", "results", BESIDE_SPEC),
    Command("its results", "retract", "exclude a result from reports; its files are kept", "results", BESIDE_SPEC),
    Command("its results", "export", "write the results of a spec to a file, for another checkout",
            "transfer", BESIDE_SPEC),
    Command("its results", "import", "import what another checkout exported", "transfer"),
    Command("its results", "parse", "show every figure of an existing output file", "query"),
    Command("its disk", "images", "list saved databases (images), verify or remove them", "disk", HERE),
    Command("its disk", "gc",
            "list unreferenced results, builds and images; move them to the trash, restore them, delete them",
            "disk", HERE),
    Command("other programs", "schema", "print the JSON Schema of specs, for editors", "new"),
    Command("other programs", "snakefile", "print the path of the Snakefile, for snakemake -s", "new"),
    Command("other programs", "completion", "print the shell completion script", "new"),
)
# fmt: on

_OWN = {command.name: command for command in _TABLE}


def find(name: str) -> Command | None:
    """Find a command by its name; the installed packages are asked for one that is not in the table."""
    return _OWN.get(name) or every_command().get(name)


@cache
def every_command() -> dict[str, Command]:
    """List the commands by group, with those of packages behind ours."""
    from stepgrid.plugins.registry import COMMANDS  # not for a command of the table

    listed = [*_TABLE, *(COMMANDS.get(name) for name in COMMANDS.names() if name not in _OWN)]
    groups = list(dict.fromkeys(command.group for command in listed))
    return {command.name: command for command in sorted(listed, key=lambda command: groups.index(command.group))}


class Parser(argparse.ArgumentParser):
    """A parser that allows options before and between the names that a command takes.

    argparse takes a list of names for empty when an option stands before it: `redo SPEC --load CELL`. A command with a
    default of `more` gets there what it does not know.
    """

    _is_inside = False  # parse_known_intermixed_args calls parse_known_args twice

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        if self._is_inside or any(action.nargs == argparse.PARSER for action in self._actions):
            return super().parse_known_args(args, namespace)
        self._is_inside = True
        try:
            values, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_inside = False
        if self.get_default("more") is not None:
            values.more, unknown = [word for word in unknown if word != "--"], []
        return values, unknown


def command_parser(name: str) -> argparse.ArgumentParser:
    """Make the parser of `stepgrid NAME`, with its arguments."""
    command = every_command()[name]
    parser = Parser(prog=f"stepgrid {name}", description=description(command))
    add_arguments(command, parser)
    return parser


def description(command: Command) -> str:
    return f"{command.summary[:1].upper()}{command.summary[1:]}."


def add_arguments(command: Command, parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Import the command's module, add its arguments, and return the function that runs it."""
    module = import_module(command.module if "." in command.module else f"stepgrid.cli.{command.module}")
    getattr(module, f"add_{command.name.replace('-', '_')}_arguments")(parser)
    run: Callable[[argparse.Namespace], int] = getattr(module, f"run_{command.name.replace('-', '_')}")
    return run


def overview() -> str:
    """List the commands in their groups, for `stepgrid --help`."""
    groups = groupby(every_command().values(), key=lambda command: command.group)
    return "\n\n".join("\n".join([f"{title}:", *_overview_lines(commands)]) for title, commands in groups)


def _overview_lines(commands: Iterator[Command]) -> Iterator[str]:
    width = max(shutil.get_terminal_size().columns - 2, 40)
    for command in commands:
        head = f"  {command.name:<{HELP_INDENT - 2}}"
        yield textwrap.fill(command.summary, width, initial_indent=head, subsequent_indent=" " * HELP_INDENT)
