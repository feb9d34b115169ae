"""docs/reference/protocols.md, from the protocols that the core asks plug-ins for.

`python -m scripts.protocols_page > docs/reference/protocols.md`
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

INTRODUCTION = """# Protocols of plug-ins

What a [plug-in](../guides/plugins.md) may have.

Made by `python -m scripts.protocols_page > docs/reference/protocols.md`; a test keeps it so.

An object that has all members of a protocol is asked; one without them is not."""

MODULES = (
    *("engine", "durability", "counters", "server", "statements", "vectors", "driver", "work", "metrics"),
    "collector",
)
OTHERS = ("stepgrid.build.recipe", "stepgrid.lint.rule")


def page() -> str:
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    for name in (*(f"stepgrid.plugins.{module}" for module in MODULES), *OTHERS):
        if protocols := [*optional_protocols(name)]:
            yield from ("", f"## {name.replace('.', '/')}.py", "", "| protocol | for | members |", "|---|---|---|")
            for protocol in protocols:
                members = [member for member in {**protocol.__annotations__, **vars(protocol)} if member[0] != "_"]
                text = " ".join((inspect.getdoc(protocol) or "").split("\n\n")[0].split())
                yield f"| `{protocol.__name__}` | {text} | {', '.join(f'`{member}`' for member in members)} |"


def optional_protocols(module: str) -> Iterator[Any]:
    for value in vars(import_module(module)).values():
        if getattr(value, "_is_runtime_protocol", False) and value.__module__ == module:
            yield value


if __name__ == "__main__":
    print(page())
