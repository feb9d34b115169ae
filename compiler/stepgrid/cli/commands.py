"""The table of commands: their groups, help, modules and parsers. A package adds its own by an entry point.

A module has `add_NAME_arguments(parser)` and `run_NAME(args)`, which returns the exit status, for each of its commands.
"""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Callable, Sequence
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
_TABLE: tuple[Command | str, ...] = (  # in the order of help; a name alone is a command of a package
    "new",
    Command("a spec", "check", "compile a spec and show every problem in it", "check"),
    "plan", "lock", "outdated", "builds",
    Command("a run", "run", "measure the missing stages through Snakemake, then summarize", "run"),
    "status", "watch",
    Command("its results", "report", "print the report of the results, or one of its tables", "report", BESIDE_SPEC),
    "compare", "plans", "site", "results", "redo", "retract", "export", "import", "images", "gc",
    "snakefile", "completion",
)
# fmt: on

_OWN = {command.name: command for command in _TABLE if isinstance(command, Command)}


def find(name: str) -> Command | None:
    """Find a command by its name; the installed packages are asked for one that is not in the table."""
    return _OWN.get(name) or every_command().get(name)


@cache
def every_command() -> dict[str, Command]:
    """List the commands by group: those of the table and, behind them, other ones of packages."""
    from stepgrid.plugins.registry import COMMANDS  # not for a command of the table

    commands = {name: COMMANDS.get(name) for name in COMMANDS.names()} | _OWN
    names = [entry if isinstance(entry, str) else entry.name for entry in _TABLE]
    listed = [commands[name] for name in dict.fromkeys([*names, *commands]) if name in commands]
    groups = list(dict.fromkeys(command.group for command in listed))
    return {command.name: command for command in sorted(listed, key=lambda command: groups.index(command.group))}


COMMON = "common options"  # the group of options that a help has in one line


class CommonOption(NamedTuple):
    name: str
    summary: str
    metavar: str = ""  # none: it takes no value
    dest: str = ""  # of one that may be repeated

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        groups = (group for group in parser._action_groups if group.title == COMMON)
        group = next(groups, None) or parser.add_argument_group(COMMON)
        if self.dest:
            group.add_argument(
                self.name, dest=self.dest, metavar=self.metavar, action="append", default=[], help=self.summary
            )
        elif self.metavar:
            group.add_argument(self.name, metavar=self.metavar, help=self.summary)
        else:
            group.add_argument(self.name, action="store_true", help=self.summary)


SITE = CommonOption("--site", "facts of this machine (default: site.yaml, if it exists)", "FILE")
COMMON_OPTIONS = (
    CommonOption("--scale", "one of the spec's `scales`", "NAME"),
    CommonOption("--only", "only the cells for which this holds, such as \"cache == 'lru'\"", "EXPR"),
    CommonOption("--set", "set a value, such as params.keys=1M; repeatable", "PATH=VALUE", "sets"),
    CommonOption("--all-warnings", "also the warnings that were shown for this spec before today"),
    SITE,
)


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

    def format_help(self) -> str:
        """Explain the command's own options, and list those of most commands in one line."""
        formatter, common = self._get_formatter(), self._common_actions()
        formatter.add_usage(self.usage, self._own_actions(), self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_arguments(action for action in group._group_actions if action not in common)
            formatter.end_section()
        formatter.add_text(self.epilog)
        names = ", ".join(f"{action.option_strings[-1]} {action.metavar or ''}".rstrip() for action in common)
        return f"{formatter.format_help()}\n{textwrap.fill(f'{COMMON}: {names}', help_width())}\n"

    def format_usage(self) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._own_actions(), self._mutually_exclusive_groups)
        return formatter.format_help()

    def _common_actions(self) -> list[argparse.Action]:
        common = [action for group in self._action_groups if group.title == COMMON for action in group._group_actions]
        return [*common, *(action for action in self._actions if action.dest == "help")]

    def _own_actions(self) -> list[argparse.Action]:
        common = self._common_actions()
        return [action for action in self._actions if action not in common]


def help_width() -> int:
    return max(shutil.get_terminal_size().columns - 2, 40)


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
    texts = [
        "\n".join([f"{title}:", *(_overview_lines(command.name, command.summary) for command in commands)])
        for title, commands in groups
    ]
    options = (_overview_lines(f"{option.name} {option.metavar}", option.summary, 20) for option in COMMON_OPTIONS)
    return "\n\n".join([*texts, "\n".join([f"{COMMON}:", *options])])


def _overview_lines(name: str, summary: str, indent: int = HELP_INDENT) -> str:
    head = f"  {name:<{indent - 2}}"
    return textwrap.fill(summary, help_width(), initial_indent=head, subsequent_indent=" " * indent)
