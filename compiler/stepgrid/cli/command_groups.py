"""What `stepgrid --help` says of the commands: by what one is about to do."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping

GROUPS = {
    "a spec": ("new", "check", "explain", "plan", "lock", "schema"),
    "a run": ("doctor", "builds", "run", "status", "watch"),
    "its results": ("report", "query", "results", "redo", "retract", "export", "import", "parse"),
    "its disk": ("images", "gc"),
}
INDENT = 13


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
