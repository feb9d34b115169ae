"""The command `stepgrid`: words become calls, values become text; it decides nothing that the Python API does not.

Here the command line is parsed, and an error printed. Exit statuses: stepgrid.errors."""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stepgrid.cli.commands import BESIDE_SPEC, Parser, add_arguments, description, every_command, find, overview
from stepgrid.errors import FAILED, FINE, USAGE, restore_interrupts

STOPPED = 130  # by SIGINT
_GARBAGE_THRESHOLD = 1_000_000  # objects between two searches for garbage; Python's own number is 700
_COMPLETING = "_ARGCOMPLETE"  # set by a shell that completes a command line


def main(arguments: Sequence[str] | None = None) -> int:
    if arguments is None:
        _postpone_garbage_search()
    from stepgrid.host.terminal_output import FullStream, open_streams, screened

    open_streams()
    with screened():
        try:
            status = _run(arguments)
            sys.stdout.flush()
        except FullStream as error:
            print(error, file=sys.stderr)
            return FAILED
        except BrokenPipeError:
            sys.stderr.close()
            return FINE
    return status


def _run(arguments: Sequence[str] | None) -> int:
    words, is_completing = list(sys.argv[1:] if arguments is None else arguments), False
    if arguments is None:
        is_completing = _COMPLETING in os.environ
    if is_completing:
        from importlib import import_module

        completion = import_module(every_command()["completion"].module)
        words = completion.typed_words()
    name = words[0] if words and find(words[0]) else ""
    parser = _parser(name)
    if is_completing:
        completion.complete(parser)
    if words and not name and not words[0].startswith("-"):
        parser.error(_unknown_command(words[0]))
    try:
        return _execute(parser.parse_args(words), name)
    except KeyboardInterrupt:
        print("stopped by SIGINT before anything was started", file=sys.stderr)
        return STOPPED


def _parser(name: str) -> argparse.ArgumentParser:
    """Make a parser of one command, or of all: then no module is imported."""
    from stepgrid.package import __version__

    parser = argparse.ArgumentParser(
        prog="stepgrid",
        usage="stepgrid [-h] [--version] COMMAND ...",
        description="A declarative compiler for database-engine benchmarks: steps x grid.",
        epilog=None if name else overview(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"stepgrid {__version__}")
    parsers = parser.add_subparsers(
        metavar="COMMAND", required=True, help=argparse.SUPPRESS, prog="stepgrid", parser_class=Parser
    )
    named = find(name)
    for command in (named,) if named else every_command().values():
        subparser = parsers.add_parser(command.name, description=description(command))
        if named:
            subparser.set_defaults(execute=add_arguments(command, subparser))
    return parser


def _execute(args: argparse.Namespace, name: str) -> int:
    """Run the command; print its error, if it ends with one, and return the exit status."""
    from stepgrid.host.terminal_output import FullStream, folded

    restore_interrupts()
    try:
        if message := _results_elsewhere(args, name):
            print(message, file=sys.stderr)
            return USAGE
        return int(args.execute(args))
    except (BrokenPipeError, FullStream):
        raise
    except Exception as error:
        from stepgrid.cli.failures import describe

        if (failure := describe(error, name)) is None:
            raise
        sentence, status = failure
        print(folded(sentence, sys.stderr), file=sys.stderr)
        return status


def _results_elsewhere(args: argparse.Namespace, name: str) -> str | None:
    """Name the folder of the results, if the command would look for them in vain."""
    command = find(name)
    if command is None or not command.results:
        return None
    from stepgrid.workflow import host_plan

    spec = getattr(args, "spec", None)
    is_file = command.results == BESIDE_SPEC and spec is not None and Path(spec).is_file()
    return host_plan.results_elsewhere(Path(spec).parent if spec is not None and is_file else None)


def _unknown_command(word: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, every_command(), n=1)
    return f"there is no command `{word}`: " + (f"did you mean `{close[0]}`?" if close else "`stepgrid -h` lists them")


def _postpone_garbage_search() -> None:
    """Spare a process of our own Python's searches for circular garbage; the last one is a fifth of a `check`."""

    def freeze() -> None:
        if "duckdb" not in sys.modules:  # its binding prints a page about every object that is not freed
            gc.freeze()

    gc.set_threshold(_GARBAGE_THRESHOLD)
    atexit.register(freeze)
