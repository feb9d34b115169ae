"""What in a program names the folder that it was compiled in: a build moves to another one when it is published.

Names of source files in assertions and debugging information do no harm: not every byte of it counts.
"""

from __future__ import annotations

from pathlib import Path

from stepgrid.build.compilation.elf import read_elf, strings

_NAMES = ".dynstr"  # of an ELF file: where its libraries are, among others
_HEAD = 4096
_RUN_PATH = (
    "it looks for its libraries in the folder that it was compiled in; link it with the run path `$ORIGIN/…`,"
    " or statically"
)
_WRAPPER = "it is libtool's wrapper of the program; configure with `--disable-shared`, or install into the tree"
_SCRIPT = "its text names the folder that it was made in; let it find its files by `$0`"


def stays(program: Path, folder: Path) -> str | None:
    """Why it would not run in another folder, and what to do; None where nothing shows that."""
    names = {str(folder.absolute()), str(folder.resolve())}
    if read_elf(program) is not None:
        held = any(name in text for text in strings(program, _NAMES) for name in names)
        return _RUN_PATH if held else None
    content = program.read_bytes()
    if not any(name.encode() in content for name in names):
        return None
    return _WRAPPER if b"libtool" in content[:_HEAD] else _SCRIPT
