"""What in a program names the folder that it was compiled in: a build moves to another one when it is published.

Names of source files in assertions and debugging information do no harm, so that not every byte of it counts.
"""

from __future__ import annotations

from pathlib import Path

from compiler.build.elf import read_elf, strings

_NAMES = ".dynstr"  # of an ELF file: where its libraries are, among others


def stays(program: Path, folder: Path) -> str | None:
    """Why it cannot be moved, and what to do; None where nothing shows that."""
    own = str(folder.absolute())
    if read_elf(program) is None:
        return None if own.encode() not in program.read_bytes() else _script(program)
    if any(own in name for name in strings(program, _NAMES)):
        return (
            "it looks for its libraries in the folder that it was compiled in; "
            "link it with the run path `$ORIGIN/…`, or statically"
        )
    return None


def _script(program: Path) -> str:
    if b"libtool" in program.read_bytes()[:_HEAD]:
        return "it is libtool's wrapper of the program; configure with `--disable-shared`, or install into the tree"
    return "its text names the folder that it was made in; let it look for its files from `$0`"


_HEAD = 4096
