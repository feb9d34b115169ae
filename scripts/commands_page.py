"""docs/reference/commands.md, from the parsers of the commands.

`python -m scripts.commands_page > docs/reference/commands.md`
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from stepgrid.cli.commands import command_parser, description, every_command

INTRODUCTION = """# Options of every command

Made by `python -m scripts.commands_page > docs/reference/commands.md`; a test keeps it so.
[Commands](cli.md) has their effects, outputs and exit statuses; `stepgrid COMMAND -h` says the same
as this page."""


def page() -> str:
    return "\n".join([INTRODUCTION, *(line for name in every_command() for line in _command(name))])


def _command(name: str) -> Iterator[str]:
    parser = command_parser(name)
    yield from ("", f"## {name}", "", description(every_command()[name]), "")
    yield from ("| argument | what it is |", "|---|---|")
    for action in parser._actions:
        if action.dest != "help" and action.help != argparse.SUPPRESS:
            yield f"| `{_shown(action)}` | {_text(parser, action)} |"


def _shown(action: argparse.Action) -> str:
    value = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    if action.choices:
        value = ", ".join(map(str, action.choices))
    value = " ".join(value) if isinstance(value, tuple) else str(value)
    names = ", ".join(action.option_strings)
    return f"{names} {value}".strip().replace("|", "\\|")


def _text(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action).replace("|", "\\|") if action.help else ""


if __name__ == "__main__":
    print(page())
