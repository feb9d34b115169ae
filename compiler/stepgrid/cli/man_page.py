"""Manual pages of the commands, made of their help: `python -m stepgrid.cli.man_page FOLDER`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from stepgrid import __version__
from stepgrid.cli import COMMANDS, MODULES, Parser, overview

USAGE = "stepgrid COMMAND ..."


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stepgrid.1").write_text(overall(), encoding="utf-8")
    for name in COMMANDS:
        (folder / f"stepgrid-{name}.1").write_text(of_command(name), encoding="utf-8")


def parser_of(name: str) -> argparse.ArgumentParser:
    """As `stepgrid NAME` parses its arguments."""
    parser = Parser(prog=f"stepgrid {name}", description=f"{COMMANDS[name][:1].upper()}{COMMANDS[name][1:]}.")
    import_module(f"stepgrid.cli.{MODULES.get(name, name)}").arguments(parser)
    return parser


def overall() -> str:
    lines = [*_head("stepgrid", "a declarative compiler for database-engine benchmarks"), ".SH SYNOPSIS", _text(USAGE)]
    lines += [".SH COMMANDS", ".nf", *map(_text, overview(COMMANDS).splitlines()), ".fi"]
    names = [f".BR stepgrid-{name} (1)" for name in COMMANDS]
    return "\n".join([*lines, ".SH SEE ALSO", *names, ""])


def of_command(name: str) -> str:
    parser = parser_of(name)
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    lines = [*_head(f"stepgrid-{name}", COMMANDS[name]), ".SH SYNOPSIS", _text(usage), ".SH OPTIONS"]
    for action in parser._actions:
        lines += _option(parser, action)
    if parser.epilog:
        lines += [".SH NOTES", ".nf", *map(_text, parser.epilog.splitlines()), ".fi"]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR stepgrid (1)", ""])


def _head(name: str, what: str) -> Iterator[str]:
    yield f'.TH {name.upper()} 1 "" "stepgrid {__version__}" "User commands"'
    yield ".SH NAME"
    yield _text(f"{name} - {what}")


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> Iterator[str]:
    value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    value = " ".join(value) if isinstance(value, tuple) else value
    shown = ", ".join(action.option_strings) or str(value)
    yield ".TP"
    yield f"\\fB{_text(shown)}\\fR" + (f" {_text(value)}" if action.option_strings and value else "")
    formatter = parser._get_formatter()
    yield _text(formatter._expand_help(action) if action.help else "")


def _text(said: str) -> str:
    """A backslash, a hyphen and a dot at the beginning mean something to roff."""
    said = said.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{said}" if said.startswith((".", "'")) else said


if __name__ == "__main__":
    main(Path(sys.argv[1]))
