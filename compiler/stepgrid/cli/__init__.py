"""The command `stepgrid`. Exit status: 0 fine, 1 problems in the spec, 2 usage, 3 a run failed, 4 a claim failed."""

from __future__ import annotations

import argparse
import atexit
import gc as garbage  # `gc` is the command of that name, once it is imported
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from stepgrid.model import early_interrupt

COMMANDS = {
    "check": "compile a spec and show every problem in it",
    "plan": "show what a run would measure, why and for how long, and which results exist",
    "run": "measure the missing stages through Snakemake, then summarize",
    "status": "show the status of every stage, during a run or after it",
    "watch": "show the status live, with the speed of the running step",
    "report": "print the report of the results, or one of its tables",
    "compare": "compare two sets of results: specs, plans, dates, exported files",
    "plans": "list the stored plans, and how much of each is measured",
    "site": "write a static site of experiments: index, pages, tables, feed",
    "explain": "show the settings and options of one cell, and the line of the spec that sets each",
    "builds": "list builds, make them, compare two of them, copy one to another machine",
    "new": "write a commented example spec",
    "lock": "pin the refs and artifacts of a spec to commits and checksums",
    "redo": "measure stages again; their earlier results are kept",
    "results": "list all results and attempts of the stages of a spec, and which results count",
    "retract": "exclude a result from reports; its files are kept",
    "bisect": "search for the commit or release that made a figure worse",
    "counters": "show which counters of the servers grew most, over steps or around probes",
    "flame": "draw where the CPU of one cell goes that another's does not",
    "query": "query the tables of the results in SQL",
    "parse": "show every figure of an existing output file",
    "export": "write the results of a spec to a file, for another checkout",
    "import": "import what another checkout exported, or results of published scripts",
    "store": "push results to a folder or bucket that others share, or pull theirs",
    "images": "list saved databases (images), verify or remove them",
    "gc": "list unreferenced results, builds and images; move them to the trash, restore them, delete them",
    "doctor": "check this host, and show how to fix what it finds",
    "schema": "print the JSON Schema of specs, for editors",
    "completion": "print the shell completion script",
    "snakefile": "print the path of the Snakefile, for snakemake -s",
}

MODULES = {"import": "import_"}  # a word of Python
OF_SPEC = {"status", "watch", "report", "results", "redo", "retract", "counters", "flame", "query", "export"}
NEED_RESULTS = {*OF_SPEC, "plan", "plans", "compare", "site", "bisect", "builds", "images", "gc"}
_SELDOM = 1_000_000  # objects between two searches for garbage; Python's own number is 700
_COMPLETING = "_ARGCOMPLETE"  # a shell asks what could stand next


def main(arguments: Sequence[str] | None = None) -> int:
    from stepgrid.host.terminal_output import FullStream, open_streams, screened

    open_streams()
    with screened():
        try:
            status = _main(arguments)
            sys.stdout.flush()
        except FullStream as full:
            print(full, file=sys.stderr)
            return 3
        except BrokenPipeError:
            sys.stderr.close()
            return 0
    return status


def _main(arguments: Sequence[str] | None) -> int:
    completion = import_module("stepgrid.cli.completion") if arguments is None and _COMPLETING in os.environ else None
    given = completion.typed() if completion else sys.argv[1:] if arguments is None else list(arguments)
    command = given[0] if given and given[0] in COMMANDS else None
    if arguments is None:
        _without_garbage()
    parser = argparse.ArgumentParser(
        prog="stepgrid",
        usage="stepgrid [-h] [--version] COMMAND ...",
        description="A declarative compiler for database-engine benchmarks: steps x grid.",
        epilog=None if command else overview(COMMANDS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(
        metavar="COMMAND", required=True, help=argparse.SUPPRESS, prog="stepgrid", parser_class=Parser
    )
    for name, what in COMMANDS.items():
        sub = commands.add_parser(name, description=what[:1].upper() + what[1:] + ".")
        if name == command:  # the others' modules are not imported
            module = import_module(f"stepgrid.cli.{MODULES.get(name, name)}")
            module.arguments(sub)
            sub.set_defaults(run=module.run)
    if completion:
        completion.complete(parser)
    if given and command is None and not given[0].startswith("-"):
        parser.error(_meant(given[0]))
    try:
        parsed = parser.parse_args(given)
        return _called(parsed, command or "")
    except KeyboardInterrupt:
        print("stopped by SIGINT before anything was started", file=sys.stderr)
        return 130


def _called(parsed: argparse.Namespace, command: str) -> int:
    early_interrupt.give_back()
    if message := _in_another_folder(parsed, command):
        print(message, file=sys.stderr)
        return 2
    from stepgrid.host.terminal_output import FullStream

    try:
        return int(parsed.run(parsed))
    except (BrokenPipeError, FullStream):
        raise
    except Exception as error:
        return _failed(error, command)


def _in_another_folder(parsed: argparse.Namespace, command: str) -> str | None:
    """Say where the results are that a command would look for in vain."""
    if command not in NEED_RESULTS or os.path.lexists("outputs"):
        return None
    from pathlib import Path

    from stepgrid.workflow import host_plan

    spec = getattr(parsed, "spec", None)
    is_file = command in OF_SPEC and spec is not None and Path(spec).is_file()
    return host_plan.results_elsewhere(Path(spec).parent if spec is not None and is_file else None)


def _failed(error: Exception, command: str) -> int:
    """A command that writes may find the disk full; a plug-in may be missing or broken."""
    from stepgrid.cli.shared import internal_error
    from stepgrid.collect.query import NoTables
    from stepgrid.plugins.registry import PluginError
    from stepgrid.store import disk_reserve
    from stepgrid.workflow import host_plan

    if isinstance(error, PluginError | NoTables):
        print(error, file=sys.stderr)
        return 2
    full = disk_reserve.is_full(error)
    if (said := disk_reserve.sentence(host_plan.store()) if full else internal_error.sentence(command, error)) is None:
        raise error
    print(said, file=sys.stderr)
    return 3


def _meant(word: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, COMMANDS, n=1)
    return f"there is no command `{word}`: " + (f"did you mean `{close[0]}`?" if close else "`stepgrid -h` lists them")


def _without_garbage() -> None:
    """In a process of our own: Python's search for circular garbage finds none in what is imported and planned."""
    garbage.set_threshold(_SELDOM)
    atexit.register(_freeze)


def _freeze() -> None:
    """At the end Python searches all that was imported: a fifth of a `check`."""
    if "duckdb" not in sys.modules:  # its binding prints a page about every object that is not freed
        garbage.freeze()


def _version() -> str:
    from stepgrid import __version__

    return f"stepgrid {__version__}"


# Options may stand anywhere, also before or between the names of what a command is about.

_OF_ANOTHER = (argparse.REMAINDER, argparse.PARSER)


class Parser(argparse.ArgumentParser):
    """argparse takes a list of names for empty when an option stands before it: `redo SPEC --load CELL`."""

    _inside = False  # its own way of mixing them asks the plain way twice

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        if self._inside or any(action.nargs in _OF_ANOTHER for action in self._actions):
            return super().parse_known_args(args, namespace)
        self._inside = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._inside = False


# What `stepgrid --help` says of the commands: by what one is about to do.

GROUPS = {
    "a spec": ("new", "check", "explain", "plan", "lock"),
    "a run": ("doctor", "builds", "run", "status", "watch"),
    "its results": (
        "report",
        "compare",
        "plans",
        "site",
        "bisect",
        "counters",
        "flame",
        "query",
        "results",
        "redo",
        "retract",
        "export",
        "import",
        "store",
        "parse",
    ),
    "its disk": ("images", "gc"),
    "other programs": ("schema", "snakefile", "completion"),
}
INDENT = 14


def overview(commands: Mapping[str, str]) -> str:
    """`commands`: what each does. One that is in no group comes last."""
    grouped = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in commands if name not in grouped)
    groups = {**GROUPS, **({"more": others} if others else {})}
    return "\n\n".join("\n".join(_group(title, names, commands)) for title, names in groups.items())


def _group(title: str, names: tuple[str, ...], commands: Mapping[str, str]) -> Iterator[str]:
    yield f"{title}:"
    width = max(shutil.get_terminal_size().columns - 2, 40)
    for name in names:
        if name in commands:
            first = f"  {name:<{INDENT - 2}}"
            yield textwrap.fill(commands[name], width, initial_indent=first, subsequent_indent=" " * INDENT)
