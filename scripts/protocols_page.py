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

MODULES = {
    "stepgrid.plugins.engine": "Add an engine",
    "stepgrid.plugins.durability": "Say how durable an engine's commits are",
    "stepgrid.plugins.counters": "Count what an engine did",
    "stepgrid.plugins.server": "Start and stop a server",
    "stepgrid.plugins.statements": "Time statements of a server",
    "stepgrid_databases.vectors": "Add a vector index",
    "stepgrid.plugins.driver": "Add a step kind",
    "stepgrid.plugins.work": "Say how much work a step does",
    "stepgrid.plugins.collector": "Add a collector",
    "stepgrid.build.recipe": "Add a source or a way to build",
    "stepgrid.lint.rule": "Add a check of specs",
}


def page() -> str:
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    for name, title in MODULES.items():
        if protocols := [*optional_protocols(name)]:
            yield from ("", f"## {title}", "", f"In `{name}`:", "", "| protocol | for | members |", "|---|---|---|")
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
