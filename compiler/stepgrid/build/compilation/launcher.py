"""Scripts that start a build's programs, wherever the build is: a server finds its files and its siblings by them.

A program that is started through a foreign loader starts others by their paths (initdb: postgres), which the host's
own loader would then run with the host's libraries. A script in each one's place keeps them in the build.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

MOVED = ".real"  # what a program's name ends with once a script stands in its place
BUILD = "$build"  # in the value of a variable: the build's folder, as it is when the program is started


def aside(program: Path) -> Path:
    """Makes room for the script that takes a program's place."""
    moved = program.with_name(program.name + MOVED)
    program.resolve().rename(moved)
    program.unlink(missing_ok=True)  # it was a link
    return moved


def write(place: Path, folder: Path, argv: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The argv prefix that starts the script; the given one is relative to the build's folder, as a record has it."""
    up = os.path.relpath(folder, place.parent)
    lines = [
        "#!/bin/sh",
        f'build=$(CDPATH= cd -- "${{0%/*}}/{up}" && pwd -P) || exit 127',
        *(f'{name}="{value}" && export {name}' for name, value in environment.items()),
        f'exec {" ".join(_word(word) for word in argv)} "$@"',
    ]
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    place.chmod(0o755)
    return (str(place.relative_to(folder)),)


def _word(word: str) -> str:
    if word.startswith("-"):
        return word
    return '"' + ":".join(f"{BUILD}/{_quoted(part)}" for part in word.split(":")) + '"'


def _quoted(text: str) -> str:
    return re.sub(r'(["$`\\])', r"\\\1", text)
